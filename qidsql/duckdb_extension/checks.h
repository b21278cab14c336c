/* The checks that are single statements, as macros of a script that is compiled in (compiling.py): they need no Python. For
 * the other functions there are macros that tell why they are missing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void (*set_error)(void *info, const char *text);
    void **(*get_database)(void *info);
    void *const *(*get_api)(void *info, const char *version);
} Access;

enum { CONNECT = 3, DISCONNECT = 6, QUERY = 13, DESTROY_RESULT = 14 }; /* places in DuckDB's C API */

#ifdef SCRIPT
#include SCRIPT
#else
static const char checks[] = "", refusals[] = "";
#endif

static bool run(void *const *api, void *connection, const char *sql) {
    void *result[6] = {0}; /* duckdb_result */
    int failed = ((int (*)(void *, const char *, void *))api[QUERY])(connection, sql, result);
    ((void (*)(void *))api[DESTROY_RESULT])(result);
    return !failed;
}

/* `problem` is why there is no Python. False: nothing was created. */
static bool load_checks(void *const *api, void *database, const char *problem) {
    void *connection = NULL;
    char *reason = malloc(2 * strlen(problem) + 128);
    if (!reason || !*checks || ((int (*)(void *, void **))api[CONNECT])(database, &connection)) {
        free(reason);
        return false;
    }
    char *end = reason + sprintf(reason, "CREATE OR REPLACE MACRO qidsql.main.why_no_python() AS '");
    for (const char *each = problem; *each; each++) {
        if (*each == '\'') *end++ = '\'';
        *end++ = *each;
    }
    strcpy(end, "'");
    bool good = run(api, connection, checks) && run(api, connection, reason) && run(api, connection, refusals);
    ((void (*)(void **))api[DISCONNECT])(&connection);
    free(reason);
    return good;
}
