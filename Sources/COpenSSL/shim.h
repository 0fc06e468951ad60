// OpenSSL's macros as functions, which Swift can call.
#ifndef AFAR_COPENSSL_SHIM_H
#define AFAR_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// MARK: Stacks

static inline int afar_x509_count(const STACK_OF(X509) *stack) { return stack == NULL ? 0 : sk_X509_num(stack); }
static inline X509 *afar_x509_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline STACK_OF(X509) *afar_x509_stack(void) { return sk_X509_new_null(); }
// Adds a reference, which the stack owns.
static inline int afar_x509_append(STACK_OF(X509) *stack, X509 *certificate) {
    return X509_up_ref(certificate) == 1 && sk_X509_push(stack, certificate) > 0;
}
static inline void afar_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline STACK_OF(X509_CRL) *afar_crl_stack(void) { return sk_X509_CRL_new_null(); }
// The stack takes ownership of the list.
static inline int afar_crl_append(STACK_OF(X509_CRL) *stack, X509_CRL *list) { return sk_X509_CRL_push(stack, list) > 0; }
static inline void afar_crl_stack_free(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_pop_free(stack, X509_CRL_free); }

// MARK: Names

static inline STACK_OF(GENERAL_NAME) *afar_alternative_names(const X509 *certificate) {
    return (STACK_OF(GENERAL_NAME) *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int afar_name_count(const STACK_OF(GENERAL_NAME) *names) {
    return names == NULL ? 0 : sk_GENERAL_NAME_num(names);
}
static inline void afar_names_free(STACK_OF(GENERAL_NAME) *names) { GENERAL_NAMES_free(names); }
// The bytes of a DNS, e-mail, URI (text) or IP name (4 or 16 bytes); NULL for other types.
static inline const unsigned char *afar_name_bytes(const GENERAL_NAME *name, int *kind, int *length) {
    const ASN1_STRING *value;
    *kind = name->type;
    switch (name->type) {
    case GEN_DNS: value = name->d.dNSName; break;
    case GEN_EMAIL: value = name->d.rfc822Name; break;
    case GEN_URI: value = name->d.uniformResourceIdentifier; break;
    case GEN_IPADD: value = name->d.iPAddress; break;
    default: return NULL;
    }
    *length = ASN1_STRING_length(value);
    return ASN1_STRING_get0_data(value);
}
static inline const unsigned char *afar_name_at(
    const STACK_OF(GENERAL_NAME) *names, int index, int *kind, int *length) {
    return afar_name_bytes(sk_GENERAL_NAME_value(names, index), kind, length);
}

// NULL if the certificate has no name constraints (`isCritical` is then −1), or if they can't be read.
static inline NAME_CONSTRAINTS *afar_name_constraints(const X509 *certificate, int *isCritical) {
    return (NAME_CONSTRAINTS *)X509_get_ext_d2i(certificate, NID_name_constraints, isCritical, NULL);
}
static inline void afar_name_constraints_free(NAME_CONSTRAINTS *constraints) { NAME_CONSTRAINTS_free(constraints); }
static inline const STACK_OF(GENERAL_SUBTREE) *afar_subtrees(const NAME_CONSTRAINTS *constraints, _Bool isExcluded) {
    return isExcluded ? constraints->excludedSubtrees : constraints->permittedSubtrees;
}
static inline int afar_subtree_count(const NAME_CONSTRAINTS *constraints, _Bool isExcluded) {
    const STACK_OF(GENERAL_SUBTREE) *subtrees = afar_subtrees(constraints, isExcluded);
    return subtrees == NULL ? 0 : sk_GENERAL_SUBTREE_num(subtrees);
}
// The bytes of the subtree's name, as in `afar_name_bytes`. `hasDistance` becomes 1 if the subtree has a minimum or maximum,
// which is forbidden in TLS certificates.
static inline const unsigned char *afar_subtree_at(
    const NAME_CONSTRAINTS *constraints, _Bool isExcluded, int index, int *kind, int *length, int *hasDistance) {
    const GENERAL_SUBTREE *subtree = sk_GENERAL_SUBTREE_value(afar_subtrees(constraints, isExcluded), index);
    *hasDistance = subtree->maximum != NULL || (subtree->minimum != NULL && ASN1_INTEGER_get(subtree->minimum) != 0);
    return afar_name_bytes(subtree->base, kind, length);
}

// Prints a name in one line (RFC 2253), with unescaped non-ASCII letters.
static inline int afar_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// MARK: Bytes

static inline size_t afar_bio_contents(BIO *bio, const char **bytes) {
    char *start = NULL;
    long length = BIO_get_mem_data(bio, &start);
    *bytes = start;
    return length > 0 ? (size_t)length : 0;
}
// Without this function, OpenSSL would prompt at the terminal.
static inline int afar_no_passphrase(char *buffer, int size, int isWritten, void *context) {
    (void)buffer, (void)size, (void)isWritten, (void)context;
    return -1;
}
static inline EVP_PKEY *afar_read_private_key(BIO *bio, const char *passphrase) {
    return PEM_read_bio_PrivateKey(bio, NULL, passphrase == NULL ? afar_no_passphrase : NULL, (void *)passphrase);
}
static inline EVP_PKEY *afar_read_encrypted_key(BIO *bio, const char *passphrase) {
    return d2i_PKCS8PrivateKey_bio(bio, NULL, passphrase == NULL ? afar_no_passphrase : NULL, (void *)passphrase);
}

// MARK: Validation

// Validates leniently: ignores dates and the end of the chain. Another error limits `goodCount` to the certificates before the
// faulty one. A certificate with a wrong signature still counts, but one that isn't allowed to sign doesn't.
static inline int afar_note_good_certificates(int isValid, X509_STORE_CTX *context) {
    int *goodCount = (int *)X509_STORE_CTX_get_app_data(context);
    int depth = X509_STORE_CTX_get_error_depth(context);
    if (isValid || goodCount == NULL) return 1;
    switch (X509_STORE_CTX_get_error(context)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED: return 1;
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: depth += 1; break;
    default: break;
    }
    if (depth < *goodCount) *goodCount = depth;
    return 1;
}
static inline void afar_ignore_validation_errors(X509_STORE_CTX *context, int *goodCount) {
    X509_STORE_CTX_set_app_data(context, goodCount);
    X509_STORE_CTX_set_verify_cb(context, afar_note_good_certificates);
}

// MARK: Connections

// Replaces OpenSSL's validation of the servers' certificates.
static inline void afar_set_validation(SSL_CTX *context, int (*validate)(X509_STORE_CTX *, void *), void *argument) {
    SSL_CTX_set_cert_verify_callback(context, validate, argument);
}

static inline long afar_ocsp_response(SSL *ssl, const unsigned char **bytes) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, bytes);
}
// Requests an OCSP response, and prevents a change of the server's certificate.
static inline void afar_prepare_for_evaluation(SSL_CTX *context) {
    SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}
// Writes a line of handshake secrets to a file.
static inline void afar_write_key_log(const SSL *ssl, const char *line) {
    intptr_t descriptor = (intptr_t)SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)) - 1;
    char text[1024];
    int length = snprintf(text, sizeof text, "%s\n", line);
    if (descriptor < 0 || length <= 0 || length >= (int)sizeof text) return;
    if (write((int)descriptor, text, (size_t)length) != length) return;
}
static inline void afar_log_keys(SSL_CTX *context, int descriptor) {
    SSL_CTX_set_app_data(context, (void *)((intptr_t)descriptor + 1));
    SSL_CTX_set_keylog_callback(context, afar_write_key_log);
}
static inline int afar_set_connection_minimum(SSL *ssl, int version) {
    return SSL_set_min_proto_version(ssl, version) == 1;
}
static inline void afar_ask_for_ocsp_response(SSL *ssl) {
    SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
    SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
}
static inline int afar_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, (void *)name) == 1;
}
// Sets the client's certificate, the rest of its chain, and its key, all in PEM.
static inline int afar_use_identity(SSL *ssl, const char *certificates, int count, const char *key, int keyCount) {
    BIO *chain = BIO_new_mem_buf(certificates, count);
    BIO *secret = BIO_new_mem_buf(key, keyCount);
    EVP_PKEY *read = secret == NULL ? NULL : PEM_read_bio_PrivateKey(secret, NULL, afar_no_passphrase, NULL);
    X509 *own = chain == NULL ? NULL : PEM_read_bio_X509(chain, NULL, NULL, NULL);
    int isDone = read != NULL && own != NULL && SSL_use_certificate(ssl, own) == 1 && SSL_use_PrivateKey(ssl, read) == 1;
    X509 *next;
    // A server can request the identity more than once.
    if (isDone) SSL_clear_chain_certs(ssl);
    while (isDone && (next = PEM_read_bio_X509(chain, NULL, NULL, NULL)) != NULL) {
        isDone = SSL_add1_chain_cert(ssl, next) == 1;
        X509_free(next);
    }
    X509_free(own);
    EVP_PKEY_free(read);
    BIO_free(secret);
    BIO_free(chain);
    return isDone;
}

// Settings for all clients. Renegotiation would let a server change its identity.
static inline void afar_set_up_client(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    // OpenSSL's configuration file can set this option.
    SSL_CTX_clear_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(
        context,
        SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_read_ahead(context, 1);
}
static inline int afar_set_authorities(SSL *ssl, X509_STORE *store) { return SSL_set1_verify_cert_store(ssl, store) == 1; }
static inline void afar_set_object(SSL *ssl, void *object) { SSL_set_app_data(ssl, object); }
static inline void *afar_object(const SSL *ssl) { return SSL_get_app_data(ssl); }
static inline SSL *afar_connection_of(X509_STORE_CTX *context) {
    return (SSL *)X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
}

// The result of a BIO operation that would block.
static inline int afar_would_block(BIO *bio, _Bool isReading) {
    BIO_set_flags(bio, (isReading ? BIO_FLAGS_READ : BIO_FLAGS_WRITE) | BIO_FLAGS_SHOULD_RETRY);
    return -1;
}
static inline int afar_reason(unsigned long error) { return ERR_GET_REASON(error); }
static inline void afar_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

// An index for an object in each connection's settings. The settings release the object. Negative on failure.
static inline int afar_new_settings_index(CRYPTO_EX_free *release) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}
// An index for an object in each connection. The connection releases the object. Negative on failure.
static inline int afar_new_connection_index(CRYPTO_EX_free *release) {
    return SSL_get_ex_new_index(0, NULL, NULL, NULL, release);
}
// Ignores the end of the TCP connection without an alert.
static inline void afar_ignore_unexpected_end(SSL *ssl) { SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF); }
// An index for an object that each connection doesn't own. Negative on failure.
static inline int afar_new_trust_index(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

#endif
