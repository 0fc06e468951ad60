// libcurl's variadic functions in typed forms, and declarations that Swift's Glibc module lacks.
#ifndef AFAR_CLIBCURL_SHIM_H
#define AFAR_CLIBCURL_SHIM_H

#include <curl/curl.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/socket.h>

static inline int afar_socket_cloexec(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
// The address can be longer than its type.
static inline const void *afar_socket_address(const struct curl_sockaddr *address) {
    return &address->addr;
}
#endif

typedef int (*afar_prereq_function)(void *, char *, char *, int, int);

static inline CURLcode afar_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode afar_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode afar_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode afar_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode afar_set_header_list(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}
static inline CURLcode afar_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(easy, option, list);
}
static inline CURLcode afar_set_header_function(CURL *easy, curl_write_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}
static inline CURLcode afar_set_write_function(CURL *easy, curl_write_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}
static inline CURLcode afar_set_read_function(CURL *easy, curl_read_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_READDATA, context);
}
static inline CURLcode afar_set_seek_function(CURL *easy, curl_seek_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
}
static inline CURLcode afar_set_prereq_function(CURL *easy, afar_prereq_function function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}
static inline CURLcode afar_set_open_socket_function(CURL *easy, curl_opensocket_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}
static inline CURLcode afar_set_close_socket_function(CURL *easy, curl_closesocket_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}
static inline CURLcode afar_set_ssl_context_function(CURL *easy, curl_ssl_ctx_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
}
static inline CURLcode afar_set_debug_function(CURL *easy, curl_debug_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}
// libcurl copies the bytes.
static inline CURLcode afar_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}
static inline CURLcode afar_set_resolver_start_function(
    CURL *easy, curl_resolver_start_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, context);
}

// Macros that Swift can't import.
static inline long afar_http_version_3_only(void) {
#if LIBCURL_VERSION_NUM >= 0x075800
    return CURL_HTTP_VERSION_3ONLY;
#else
    return CURL_HTTP_VERSION_3;
#endif
}
static inline long afar_multiplex(void) { return CURLPIPE_MULTIPLEX; }
static inline long afar_auth_basic(void) { return (long)CURLAUTH_BASIC; }
static inline long afar_auth_negotiate(void) { return (long)CURLAUTH_NEGOTIATE; }
static inline long afar_auth_ntlm(void) { return (long)CURLAUTH_NTLM; }

static inline CURLcode afar_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode afar_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode afar_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}
// The connection's `SSL *`; NULL without TLS, or if libcurl doesn't use OpenSSL.
static inline void *afar_get_openssl(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}
static inline CURLcode afar_get_private(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

static inline CURLMcode afar_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode afar_multi_set_socket_function(CURLM *multi, curl_socket_callback function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}
static inline CURLMcode afar_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
static inline CURLSHcode afar_share(CURLSH *share, curl_lock_data what) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, what);
}

// Runs all transfers of a multi handle. The function is deprecated for the general case, because it takes time for each transfer.
static inline CURLMcode afar_multi_run_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}

// Returns a finished transfer, or NULL if no message is left.
static inline CURL *afar_multi_next_done(CURLM *multi, CURLcode *result) {
    int remaining;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &remaining)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#endif
