/* The DuckDB extension of qidsql: the part that DuckDB loads.
 *
 * It finds or starts Python and passes DuckDB's C API to it; the rest is Python, in entry.py. Compiling needs neither
 * Python.h nor duckdb.h, and linking neither library: DuckDB passes its functions as an array of pointers (the first 357
 * indexes of the C API are the same since DuckDB 1.2), and the few functions of Python are looked up by name.
 *
 * A file beside this one, written by `qidsql shell install`, names the Python to start; in a process that already runs
 * Python, that one is used.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"

enum { SCALAR_SET_ERROR = 221, BIND_SET_ERROR = 261, INIT_SET_ERROR = 268, FUNCTION_SET_ERROR = 273 };

/* ---- The struct shared with Python. entry.py has the same fields in the same order, and the same LAYOUT: the
 *      installed file may be older or newer than the Python package that it finds. ---- */

enum { LAYOUT = 3 };

typedef struct {
    void *const *api; /* borrowed from DuckDB until LOAD ends */
    void *database;
    void (*bind)(void *info);
    void (*init)(void *info);
    void (*scan)(void *info, void *chunk);
    void (*evaluate)(void *info, void *chunk, void *vector);
    void (*forget)(void *handle);
    uintptr_t (*next_forgotten)(void);
    void (*watch)(int begin);
    unsigned (*interrupts)(void);
    void (*close)(void);
    void (*on_bind)(void *info);
    void (*on_init)(void *info);
    void (*on_scan)(void *info, void *chunk);
    void (*on_evaluate)(void *info, void *chunk, void *vector);
} EntryPoints;

static EntryPoints entry;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* ---- DuckDB's calls into Python. None may enter an interpreter that is shutting down: DuckDB's threads go on
 *      working while a process exits. ---- */

typedef void SetError(void *info, const char *text);

static SetError *bind_set_error, *init_set_error, *function_set_error, *scalar_set_error;
static atomic_bool closed;
static atomic_int inside;
static atomic_uint interrupted; /* how often Ctrl-C was pressed while an audit ran */

static bool enter(void *info, SetError *set_error) {
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&closed)) return true;
    atomic_fetch_sub(&inside, 1);
    set_error(info, "qidsql: Python is shutting down");
    return false;
}

static void bind(void *info) {
    if (!enter(info, bind_set_error)) return;
    entry.on_bind(info);
    atomic_fetch_sub(&inside, 1);
}

static void init(void *info) {
    if (!enter(info, init_set_error)) return;
    entry.on_init(info);
    atomic_fetch_sub(&inside, 1);
}

static void scan(void *info, void *chunk) {
    if (!enter(info, function_set_error)) return;
    entry.on_scan(info, chunk);
    atomic_fetch_sub(&inside, 1);
}

static void evaluate(void *info, void *chunk, void *vector) {
    if (!enter(info, scalar_set_error)) return;
    entry.on_evaluate(info, chunk, vector);
    atomic_fetch_sub(&inside, 1);
}

/* Called by Python at exit, without its lock: interrupts running audits, as Ctrl-C does, and waits for them at most ten
 * seconds. */
static void close_entry(void) {
    atomic_store(&closed, true);
    atomic_fetch_add(&interrupted, 1);
    for (int tick = 0; tick < 1000 && atomic_load(&inside); tick++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* ---- DuckDB frees objects of Python from any thread at any time, also after the end of Python: only queue them. ---- */

typedef struct Forgotten {
    uintptr_t handle;
    struct Forgotten *next;
} Forgotten;

static pthread_mutex_t forgetting = PTHREAD_MUTEX_INITIALIZER;
static Forgotten *forgotten;

static void forget(void *handle) {
    Forgotten *node = malloc(sizeof *node);
    if (!node) return;
    node->handle = (uintptr_t)handle;
    pthread_mutex_lock(&forgetting);
    node->next = forgotten, forgotten = node;
    pthread_mutex_unlock(&forgetting);
}

/* The next freed handle, 0 if there is none. Called by Python without its lock, from any thread. */
static uintptr_t next_forgotten(void) {
    pthread_mutex_lock(&forgetting);
    Forgotten *node = forgotten;
    if (node) forgotten = node->next;
    pthread_mutex_unlock(&forgetting);
    uintptr_t handle = node ? node->handle : 0;
    free(node);
    return handle;
}

/* ---- Ctrl-C: counted while an audit runs, and passed on to the previous handler. ---- */

static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static int watchers;

static void on_interrupt(int number, siginfo_t *about, void *context) {
    atomic_fetch_add(&interrupted, 1);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, about, context);
    else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL)
        before.sa_handler(number);
}

static void watch(int begin) {
    struct sigaction now;
    pthread_mutex_lock(&watching);
    if (begin && watchers++ == 0) {
        sigaction(SIGINT, NULL, &before);
        now = (struct sigaction){.sa_flags = SA_SIGINFO | SA_RESTART};
        now.sa_sigaction = on_interrupt;
        sigemptyset(&now.sa_mask);
        sigaction(SIGINT, &now, NULL);
    } else if (!begin && --watchers == 0) {
        sigaction(SIGINT, NULL, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt) sigaction(SIGINT, &before, NULL);
    }
    pthread_mutex_unlock(&watching);
}

static unsigned interrupts(void) {
    return atomic_load(&interrupted);
}

/* ---- Finding or starting Python. Every function returns NULL on success, else an error text. ---- */

static char error[2 * PATH_MAX + 512];

static const char *failed(const char *form, const char *what) {
    snprintf(error, sizeof error, form, what);
    return error;
}

typedef struct {
    char libpython[PATH_MAX], python[PATH_MAX], stdlib[PATH_MAX], path[PATH_MAX];
} Settings;

static bool read_settings(const char *name, Settings *settings) {
    char line[PATH_MAX + 32];
    FILE *file = fopen(name, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *value = strchr(line, '=');
        if (!value) continue;
        *value++ = 0;
        char *field = !strcmp(line, "libpython") ? settings->libpython
                      : !strcmp(line, "python")  ? settings->python
                      : !strcmp(line, "stdlib")  ? settings->stdlib
                      : !strcmp(line, "path")    ? settings->path
                                                 : NULL;
        if (field) snprintf(field, PATH_MAX, "%s", value);
    }
    fclose(file);
    return true;
}

/* Beside this file, else in the user's configuration (for a signed binary, which DuckDB copies). */
static const char *find_settings(Settings *settings) {
    Dl_info about;
    char name[PATH_MAX + 64];
    memset(settings, 0, sizeof *settings);
    if (dladdr((void *)find_settings, &about) && about.dli_fname) {
        snprintf(name, sizeof name, "%s.settings", about.dli_fname);
        if (read_settings(name, settings)) return NULL;
    }
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config)
        snprintf(name, sizeof name, "%s/qidsql/duckdb_extension.settings", config);
    else
        snprintf(name, sizeof name, "%s/.config/qidsql/duckdb_extension.settings", home ? home : "");
    if (read_settings(name, settings)) return NULL;
    return failed("qidsql: there is no %s, so it is not known which Python to start; run: qidsql shell install", name);
}

/* Py_InitializeEx ends the process if it finds no standard library, so check that first. */
static const char *check_settings(const Settings *settings) {
    char landmark[PATH_MAX + 8];
    if (access(settings->libpython, R_OK))
        return failed("qidsql: the Python library %s is not there (any more); run: qidsql shell doctor",
                      *settings->libpython ? settings->libpython : "(none was found)");
    if (access(settings->python, X_OK))
        return failed("qidsql: %s is not there any more: the Python environment was moved or removed; run there: "
                      "qidsql shell install", settings->python);
    snprintf(landmark, sizeof landmark, "%s/os.py", settings->stdlib);
    if (access(landmark, R_OK))
        return failed("qidsql: Python's standard library is not in %s any more; run: qidsql shell doctor",
                      settings->stdlib);
    return NULL;
}

static void *library; /* the library with the functions of Python */

static void *function(const char *name) {
    return dlsym(library, name);
}
#define PYTHON(result, name, ...) ((result(*)(__VA_ARGS__))function(#name))

static const char *start(const Settings *settings) {
    static wchar_t program[PATH_MAX];
    const char *problem = check_settings(settings);
    if (problem) return problem;
    library = dlopen(settings->libpython, RTLD_NOW | RTLD_GLOBAL); /* global: Python's own C modules need its names */
    if (!library) return failed("qidsql: the Python library cannot be loaded: %s", dlerror());
    int *ignore_environment = function("Py_IgnoreEnvironmentFlag");
    if (!ignore_environment || !function("Py_SetProgramName") || !function("Py_InitializeEx"))
        return failed("qidsql: %s is no Python that can be started from here; Python 3.11 to 3.14 can",
                      settings->libpython);
    *ignore_environment = 1; /* a PYTHONHOME meant for another Python would end the process */
    mbstowcs(program, settings->python, PATH_MAX - 1);
    PYTHON(void, Py_SetProgramName, const wchar_t *)(program);
    PYTHON(void, Py_InitializeEx, int)(0); /* 0: Ctrl-C stays the shell's */
    PYTHON(void *, PyEval_SaveThread, void)();
    return NULL;
}

static const char *python_error(const char *doing) {
    void *kind = NULL, *value = NULL, *trace = NULL;
    char form[256];
    PYTHON(void, PyErr_Fetch, void **, void **, void **)(&kind, &value, &trace);
    void *text = value ? PYTHON(void *, PyObject_Str, void *)(value) : NULL;
    const char *words = text ? PYTHON(const char *, PyUnicode_AsUTF8, void *)(text) : NULL;
    snprintf(form, sizeof form, "qidsql: %s: %%s; run: qidsql shell doctor", doing);
    failed(form, words ? words : "unknown reason");
    PYTHON(void, Py_DecRef, void *)(text);
    PYTHON(void, Py_DecRef, void *)(kind);
    PYTHON(void, Py_DecRef, void *)(value);
    PYTHON(void, Py_DecRef, void *)(trace);
    return error;
}

static void *import_entry(const char *path) {
    const char *name = "qidsql.duckdb_extension.entry";
    if (*path) {
        void *paths = PYTHON(void *, PySys_GetObject, const char *)("path"); /* borrowed */
        void *folder = PYTHON(void *, PyUnicode_FromString, const char *)(path);
        if (paths && folder && PYTHON(int, PySequence_Contains, void *, void *)(paths, folder) == 0)
            PYTHON(int, PyList_Insert, void *, ssize_t, void *)(paths, 0, folder);
        PYTHON(void, Py_DecRef, void *)(folder);
    }
    return PYTHON(void *, PyImport_ImportModule, const char *)(name);
}

/* Calls entry.load, with Python's lock. */
static const char *hand_over(const char *path) {
    const char *problem = NULL;
    void *module = import_entry(path);
    if (!module) return python_error("the Python of this process cannot import qidsql");
    void *answer = PYTHON(void *, PyObject_CallMethod, void *, const char *, const char *, ...)(
        module, "load", "Ki", (unsigned long long)(uintptr_t)&entry, LAYOUT);
    PYTHON(void, Py_DecRef, void *)(module);
    if (!answer) return python_error("Python failed");
    const char *words = PYTHON(const char *, PyUnicode_AsUTF8, void *)(answer);
    if (!words || *words) problem = failed("qidsql: %s", words ? words : "unknown reason");
    PYTHON(void, Py_DecRef, void *)(answer);
    return problem;
}

static const char *load(void) {
    Settings settings;
    const char *problem = find_settings(&settings);
    if (!library) {
        int (*running)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
        if (running && running()) {
            library = RTLD_DEFAULT;
        } else {
            if (!problem) problem = start(&settings);
            if (problem) {
                library = NULL;
                return problem;
            }
        }
    }
    int lock = PYTHON(int, PyGILState_Ensure, void)();
    problem = hand_over(settings.path);
    PYTHON(void, PyGILState_Release, int)(lock);
    return problem;
}

/* ---- What DuckDB calls at LOAD. ---- */

__attribute__((visibility("default"))) bool qidsql_init_c_api(void *info, const Access *duckdb) {
    const char *problem = NULL;
    pthread_mutex_lock(&loading);
    void *const *api = duckdb->get_api(info, "v1.2.0");
    void **wrapper = duckdb->get_database(info);
    if (api && wrapper) { /* else DuckDB has set an error itself */
        /* The database handle is only valid during this call, and a connection of our own would keep the file locked for
         * ever. It points to the instance, which lives as long as its functions: an object that begins with a pointer to
         * itself, so duckdb_connect accepts it as a database as well. */
        void **lent = *wrapper;
        void **instance = lent ? *lent : NULL;
        if (!instance || *instance != instance) {
            problem = "qidsql: this DuckDB keeps its databases in another way than those that qidsql knows; please report it";
        } else if (bind_set_error && bind_set_error != (SetError *)api[BIND_SET_ERROR]) {
            problem = "qidsql: it is loaded into another DuckDB of this process already, and can be in one alone";
        } else {
            bind_set_error = (SetError *)api[BIND_SET_ERROR];
            init_set_error = (SetError *)api[INIT_SET_ERROR];
            function_set_error = (SetError *)api[FUNCTION_SET_ERROR];
            scalar_set_error = (SetError *)api[SCALAR_SET_ERROR];
            entry.api = api;
            entry.database = instance;
            entry.bind = bind, entry.init = init, entry.scan = scan;
            entry.evaluate = evaluate;
            entry.forget = forget, entry.next_forgotten = next_forgotten;
            entry.watch = watch, entry.interrupts = interrupts, entry.close = close_entry;
            problem = load();
            if (problem && load_checks(api, instance, problem)) problem = NULL;
            entry.api = NULL;
        }
        if (problem) duckdb->set_error(info, problem);
    }
    pthread_mutex_unlock(&loading);
    return api && wrapper && !problem;
}
