/* Walks every path of the extension's stub, under a sanitizer. DuckDB is played by a few functions; Python is real.
 *
 * Arguments: none. XDG_CONFIG_HOME holds the settings of the Python to start, FAULTY those of one that cannot start.
 */
#include "../../qidsql/duckdb_extension/stub.c"

#include <assert.h>

static char last_error[8192];
static atomic_int refused, passed_on, returned;

static void note(void *info, const char *text) {
    (void)info;
    snprintf(last_error, sizeof last_error, "%s", text);
}

static void refuse(void *info, const char *text) {
    (void)info;
    assert(strstr(text, "shutting down"));
    atomic_fetch_add(&refused, 1);
}

static void *functions[600], *others[600]; /* others: those of a second DuckDB in the process */
static void *const *lent; /* until the end of the load */
static void *instance[2] = {instance, NULL}, *stranger[2] = {functions, NULL};
static void *duck[2] = {instance, NULL}, *wrapper[2] = {duck, NULL};

static void **database(void *info) { return info ? wrapper : NULL; }
static void *const *api(void *info, const char *version) {
    if (!info || strcmp(version, "v1.2.0")) return NULL;
    void **copy = malloc(sizeof functions);
    memcpy(copy, info, sizeof functions);
    return lent = copy;
}

static const Access duckdb = {note, database, api};

static bool load_into(void *functions) {
    bool good = qidsql_init_c_api(functions, &duckdb);
    free((void *)lent);
    return lent = NULL, good;
}

static void *work(void *rounds) {
    for (intptr_t i = 1; i <= (intptr_t)rounds; i++) {
        entry.bind(functions);
        entry.init(functions);
        entry.scan(functions, functions);
        entry.evaluate(functions, functions, functions);
        entry.forget((void *)i);
    }
    return NULL;
}

/* What is forgotten on several threads comes back once each, to whichever thread asks. */
static void *churn(void *rounds) {
    for (intptr_t i = 1; i <= (intptr_t)rounds; i++) {
        entry.forget((void *)i);
        atomic_fetch_add(&returned, entry.next_forgotten() != 0);
    }
    return NULL;
}

/* Ctrl-C is waited for by several audits at once. */
static void *attend(void *rounds) {
    for (intptr_t i = 1; i <= (intptr_t)rounds; i++) {
        entry.watch(1);
        if (i % 50 == 0) raise(SIGINT);
        entry.watch(0);
    }
    return NULL;
}

static void passing_on(int number) { atomic_fetch_add(&passed_on, number == SIGINT); }

static void fails_with(const char *words) {
    last_error[0] = 0;
    assert(!load_into(functions));
    if (!strstr(last_error, words)) {
        fprintf(stderr, "expected %s, got %s\n", words, last_error);
        abort();
    }
}

int main(void) {
    char *config = strdup(getenv("XDG_CONFIG_HOME"));
    functions[BIND_SET_ERROR] = functions[INIT_SET_ERROR] = functions[FUNCTION_SET_ERROR] =
        functions[SCALAR_SET_ERROR] = (void *)refuse;

    assert(!load_into(NULL)); /* DuckDB has no API to give, and says so itself */
    duck[0] = stranger;
    fails_with("in another way");
    duck[0] = instance;

    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    fails_with("run: qidsql shell install");
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nowhere", 1);
    fails_with("/nowhere/.config/qidsql");
    setenv("XDG_CONFIG_HOME", getenv("FAULTY"), 1);
    fails_with("is not there (any more)");
    setenv("XDG_CONFIG_HOME", config, 1);

    fails_with("Python failed: out of order"); /* the test's entry.py counts */
    fails_with("not today");
    assert(load_into(functions));
    assert(load_into(functions)); /* a second database of the process */
    assert(!load_into(others));
    assert(strstr(last_error, "another DuckDB of this process"));

    struct sigaction other = {.sa_handler = passing_on}, now;
    sigaction(SIGINT, &other, NULL);
    unsigned count = entry.interrupts();
    entry.watch(1);
    entry.watch(1);
    raise(SIGINT);
    entry.watch(0);
    raise(SIGINT);
    entry.watch(0);
    assert(entry.interrupts() == count + 2 && passed_on == 2);
    sigaction(SIGINT, NULL, &now);
    assert(now.sa_handler == passing_on);
    raise(SIGINT);
    assert(entry.interrupts() == count + 2 && passed_on == 3);

    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)500);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert(refused == 0);
    while (entry.next_forgotten()) {
    }
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, churn, (void *)(intptr_t)300000);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert(returned == 4 * 300000 && !entry.next_forgotten());
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, attend, (void *)(intptr_t)500);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert(passed_on == 3 + 4 * 10);
    sigaction(SIGINT, NULL, &now);
    assert(now.sa_handler == passing_on);

    count = entry.interrupts();
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)500);
    entry.close(); /* while they are at it */
    assert(entry.interrupts() == count + 1); /* which ends the audits that run */
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    int before_last = refused;
    work((void *)(intptr_t)2);
    assert(refused == before_last + 8);
    while (entry.next_forgotten()) {
    }
    free(config);
    puts("every path was walked");
    fflush(stdout);
    _exit(0); /* as a shell ends: Python is not taken down */
}
