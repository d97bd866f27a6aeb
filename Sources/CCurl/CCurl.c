#include "CCurl.h"

void sync_curl_cancel(int *is_cancelled) { __atomic_store_n(is_cancelled, 1, __ATOMIC_RELAXED); }

// A statically linked program cannot load libcurl.
#if defined(__linux__) && !defined(SYNC_STATIC)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The numbers of curl.h, which do not change: https://curl.se/libcurl/c/libcurl.html, "ABI".
enum {
    OPT_WRITEDATA = 10001, OPT_URL = 10002, OPT_ERRORBUFFER = 10010, OPT_POSTFIELDS = 10015, OPT_HTTPHEADER = 10023,
    OPT_HEADERDATA = 10029, OPT_CUSTOMREQUEST = 10036, OPT_XFERINFODATA = 10057, OPT_ACCEPT_ENCODING = 10102,
    OPT_WRITEFUNCTION = 20011, OPT_HEADERFUNCTION = 20079, OPT_XFERINFOFUNCTION = 20219,
    OPT_TIMEOUT = 13, OPT_LOW_SPEED_LIMIT = 19, OPT_LOW_SPEED_TIME = 20, OPT_NOPROGRESS = 43, OPT_NOBODY = 44, OPT_FOLLOWLOCATION = 52,
    OPT_FRESH_CONNECT = 74, OPT_CONNECTTIMEOUT = 78, OPT_NOSIGNAL = 99, OPT_PROTOCOLS = 181,
    OPT_PATH_AS_IS = 234,
    OPT_POSTFIELDSIZE_LARGE = 30120,
    INFO_RESPONSE_CODE = 0x200002, PROTOCOLS_HTTP_AND_HTTPS = 3, GLOBAL_ALL = 3, ABORTED_BY_CALLBACK = 42,
};

static struct {
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    void (*easy_reset)(void *);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_perform)(void *);
    int (*easy_getinfo)(void *, int, ...);
    const char *(*easy_strerror)(int);
    void *(*slist_append)(void *, const char *);
    void (*slist_free_all)(void *);
    int is_available;
} curl;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int (*global_init)(long) = (int (*)(long))dlsym(library, "curl_global_init");
    curl.easy_init = (void *(*)(void))dlsym(library, "curl_easy_init");
    curl.easy_cleanup = (void (*)(void *))dlsym(library, "curl_easy_cleanup");
    curl.easy_reset = (void (*)(void *))dlsym(library, "curl_easy_reset");
    curl.easy_setopt = (int (*)(void *, int, ...))dlsym(library, "curl_easy_setopt");
    curl.easy_perform = (int (*)(void *))dlsym(library, "curl_easy_perform");
    curl.easy_getinfo = (int (*)(void *, int, ...))dlsym(library, "curl_easy_getinfo");
    curl.easy_strerror = (const char *(*)(int))dlsym(library, "curl_easy_strerror");
    curl.slist_append = (void *(*)(void *, const char *))dlsym(library, "curl_slist_append");
    curl.slist_free_all = (void (*)(void *))dlsym(library, "curl_slist_free_all");
    if (!global_init || !curl.easy_init || !curl.easy_cleanup || !curl.easy_reset || !curl.easy_setopt
        || !curl.easy_perform || !curl.easy_getinfo || !curl.easy_strerror || !curl.slist_append
        || !curl.slist_free_all)
        return;
    curl.is_available = global_init(GLOBAL_ALL) == 0;
}

int sync_curl_is_available(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return curl.is_available;
}

void *sync_curl_open(void) { return sync_curl_is_available() ? curl.easy_init() : NULL; }

void sync_curl_close(void *connection) {
    if (connection) curl.easy_cleanup(connection);
}

static size_t append(char **bytes, size_t *length, const char *more, size_t count) {
    // The buffer grows to the next power of two above the length.
    size_t capacity = 4096;
    while (capacity < *length) capacity *= 2;
    if (!*bytes || *length + count > capacity) {
        while (capacity < *length + count) capacity *= 2;
        char *larger = realloc(*bytes, capacity);
        if (!larger) return 0;
        *bytes = larger;
    }
    memcpy(*bytes + *length, more, count);
    *length += count;
    return count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    struct sync_curl_response *response = context;
    if (size * count > response->limit - response->body_length) {
        // A smaller number than `count` ends the request.
        response->is_too_large = 1;
        return 0;
    }
    return append(&response->body, &response->body_length, bytes, size * count);
}

static size_t take_head(char *bytes, size_t size, size_t count, void *context) {
    struct sync_curl_response *response = context;
    if (size * count > response->head_limit - response->head_count) {
        response->is_head_too_large = 1;
        return 0;
    }
    response->head_count += size * count;
    // Only the last header is kept: another one follows the header of 100 Continue.
    if (size * count > 5 && memcmp(bytes, "HTTP/", 5) == 0) response->head_length = 0;
    return append(&response->head, &response->head_length, bytes, size * count);
}

static int read_flag(void *context, long long a, long long b, long long c, long long d) {
    (void)a, (void)b, (void)c, (void)d;
    return __atomic_load_n((const int *)context, __ATOMIC_RELAXED);
}

void sync_curl_send(
    void *connection, const char *method, const char *url, const char *const *headers, const char *body,
    size_t body_length, struct sync_curl_bounds bounds, int is_fresh, const int *is_cancelled,
    struct sync_curl_response *response) {
    memset(response, 0, sizeof *response);
    response->limit = bounds.bytes;
    response->head_limit = bounds.head_bytes;
    void *list = NULL;
    for (const char *const *line = headers; *line; line++) {
        void *longer = curl.slist_append(list, *line);
        if (longer) list = longer;
    }
    // `easy_reset` keeps the connections open.
    curl.easy_reset(connection);
    curl.easy_setopt(connection, OPT_URL, url);
    curl.easy_setopt(connection, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP_AND_HTTPS);
    curl.easy_setopt(connection, OPT_NOSIGNAL, 1L);
    curl.easy_setopt(connection, OPT_PATH_AS_IS, 1L);
    curl.easy_setopt(connection, OPT_FOLLOWLOCATION, 0L);
    curl.easy_setopt(connection, OPT_FRESH_CONNECT, (long)is_fresh);
    curl.easy_setopt(connection, OPT_ACCEPT_ENCODING, "");
    curl.easy_setopt(connection, OPT_CONNECTTIMEOUT, bounds.silence);
    curl.easy_setopt(connection, OPT_LOW_SPEED_LIMIT, 1L);
    curl.easy_setopt(connection, OPT_LOW_SPEED_TIME, bounds.silence);
    curl.easy_setopt(connection, OPT_TIMEOUT, bounds.whole);
    curl.easy_setopt(connection, OPT_HTTPHEADER, list);
    if (body) {
        curl.easy_setopt(connection, OPT_POSTFIELDSIZE_LARGE, (long long)body_length);
        curl.easy_setopt(connection, OPT_POSTFIELDS, body);
    }
    curl.easy_setopt(connection, OPT_CUSTOMREQUEST, method);
    curl.easy_setopt(connection, OPT_WRITEFUNCTION, take_body);
    curl.easy_setopt(connection, OPT_WRITEDATA, response);
    curl.easy_setopt(connection, OPT_HEADERFUNCTION, take_head);
    curl.easy_setopt(connection, OPT_HEADERDATA, response);
    curl.easy_setopt(connection, OPT_XFERINFOFUNCTION, read_flag);
    curl.easy_setopt(connection, OPT_XFERINFODATA, (void *)is_cancelled);
    curl.easy_setopt(connection, OPT_NOPROGRESS, 0L);
    curl.easy_setopt(connection, OPT_ERRORBUFFER, response->error);
    int code = curl.easy_perform(connection);
    if (code == 0) {
        response->error[0] = 0;
        curl.easy_getinfo(connection, INFO_RESPONSE_CODE, &response->status);
    } else {
        response->code = code;
        response->is_cancelled = code == ABORTED_BY_CALLBACK;
        if (!response->error[0]) strncpy(response->error, curl.easy_strerror(code), sizeof response->error - 1);
    }
    curl.easy_setopt(connection, OPT_ERRORBUFFER, NULL);
    curl.slist_free_all(list);
}

void sync_curl_free(struct sync_curl_response *response) {
    free(response->head);
    free(response->body);
}

#else

int sync_curl_is_available(void) { return 0; }
void *sync_curl_open(void) { return NULL; }
void sync_curl_close(void *connection) { (void)connection; }
void sync_curl_send(
    void *connection, const char *method, const char *url, const char *const *headers, const char *body,
    size_t body_length, struct sync_curl_bounds bounds, int is_fresh, const int *is_cancelled,
    struct sync_curl_response *response) {
    (void)connection, (void)method, (void)url, (void)headers, (void)body, (void)body_length, (void)bounds;
    (void)is_fresh, (void)is_cancelled, (void)response;
}
void sync_curl_free(struct sync_curl_response *response) { (void)response; }

#endif
