// OpenSSL 3 as installed. Macros are invisible to Swift, so those in use are inline functions here.
#ifndef LARDER_COPENSSL_H
#define LARDER_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/buffer.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

static const uint64_t larder_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t larder_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t larder_SSL_OP_IGNORE_UNEXPECTED_EOF = SSL_OP_IGNORE_UNEXPECTED_EOF;

static inline int larder_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline long larder_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_mode(context, mode);
}

static inline long larder_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}

static inline long larder_SSL_set_tlsext_host_name(SSL *session, const char *name) {
  return SSL_set_tlsext_host_name(session, name);
}

static inline void larder_SSL_CTX_set_tlsext_servername_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
  SSL_CTX_set_tlsext_servername_callback(context, callback);
}

static inline long larder_SSL_CTX_sess_set_cache_size(SSL_CTX *context, long count) {
  return SSL_CTX_sess_set_cache_size(context, count);
}

static inline int larder_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *groups) {
  return (int)SSL_CTX_set1_groups_list(context, groups);
}

static inline STACK_OF(X509) *larder_SSL_CTX_get0_chain(SSL_CTX *context) {
  STACK_OF(X509) *chain = NULL;
  SSL_CTX_get0_chain_certs(context, &chain);
  return chain;
}

static inline int larder_BIO_pending(BIO *bio) { return (int)BIO_pending(bio); }

// Gives back what a memory buffer has grown to, if it is empty and holds more than `kept` bytes.
// BIO_reset would keep it.
static inline void larder_BIO_shrink(BIO *bio, size_t kept) {
  BUF_MEM *memory = NULL;
  BIO_get_mem_ptr(bio, &memory);
  if (memory == NULL || memory->length > 0 || memory->max <= kept) return;
  memory = BUF_MEM_new();
  if (memory != NULL) BIO_set_mem_buf(bio, memory, BIO_CLOSE);
}

// Copies the DNS name at `index` of a certificate's alternative names into `name`. Returns its
// length, 0 for a name of another kind or one that does not fit, -1 behind the last.
static inline int larder_X509_alternative_name(
    X509 *certificate, int index, char *name, size_t capacity) {
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  int length = -1;
  if (index < sk_GENERAL_NAME_num(names)) {
    const GENERAL_NAME *found = sk_GENERAL_NAME_value(names, index);
    length = 0;
    if (found->type == GEN_DNS && (size_t)ASN1_STRING_length(found->d.dNSName) <= capacity) {
      length = ASN1_STRING_length(found->d.dNSName);
      memcpy(name, ASN1_STRING_get0_data(found->d.dNSName), (size_t)length);
    }
  }
  GENERAL_NAMES_free(names);
  return length;
}

// Makes the two contexts of a ticket ready: AES-256 in CBC with the first half of `key`, SHA-256 in
// an HMAC with the second (RFC 5077, 4). Returns whether that was possible.
static inline int larder_ticket_contexts_init(
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char key[64],
    const unsigned char *iv, int seals) {
  OSSL_PARAM params[3];
  params[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(key + 32), 32);
  params[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"sha256", 0);
  params[2] = OSSL_PARAM_construct_end();
  return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key, iv, seals) == 1 &&
         EVP_MAC_CTX_set_params(mac, params) == 1;
}

#endif
