/* qidsql for DuckDB's community repository: the checks that are single statements, and nothing else. No library is loaded.
 */
#include "../checks.h"

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#define MISSING "this extension has the checks that are single statements; for all others: pip install qidsql, and there qidsql shell install"

EXPORTED bool qidsql_init_c_api(void *info, const Access *duckdb) {
    void *const *api = duckdb->get_api(info, "v1.2.0");
    void **database = duckdb->get_database(info);
    if (!api || !database) return false; /* DuckDB has set an error itself */
    if (load_checks(api, *database, MISSING)) return true;
    duckdb->set_error(info, "qidsql: its macros could not be created; ATTACH a database named qidsql under another name");
    return false;
}
