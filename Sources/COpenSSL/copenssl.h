// OpenSSL 3 as installed. Macros are invisible to Swift, so those in use are inline functions here.
#ifndef LARDER_COPENSSL_H
#define LARDER_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/buffer.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
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

// What follows takes parameters by macros and builders that Swift cannot use. All of it returns 1 (or an
// object) where it was done, and leaves no entry in the thread's queue of errors: another call's failure
// would be taken for it.

static inline int larder_done(int done) {
  if (!done) ERR_clear_error();
  return done;
}

// An authentication code of `length` bytes.
static inline int larder_hmac(
    EVP_MAC *algorithm, const char *digest, const void *key, size_t key_length,
    const unsigned char *data, size_t data_length, unsigned char *code, size_t length) {
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
  OSSL_PARAM params[2];
  size_t written = 0;
  params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0);
  params[1] = OSSL_PARAM_construct_end();
  // Without a pointer OpenSSL takes the key for absent.
  int done = context != NULL &&
             EVP_MAC_init(context, key == NULL ? (const void *)"" : key, key_length, params) == 1 &&
             EVP_MAC_update(context, data, data_length) == 1 &&
             EVP_MAC_final(context, code, &written, length) == 1 && written == length;
  EVP_MAC_CTX_free(context);
  return larder_done(done);
}

static inline int larder_hkdf(
    EVP_KDF *algorithm, const char *digest, const void *material, size_t material_length,
    const unsigned char *salt, size_t salt_length, const unsigned char *info, size_t info_length,
    unsigned char *key, size_t length) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(algorithm);
  OSSL_PARAM params[5];
  int count = 0;
  params[count++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)digest, 0);
  params[count++] = OSSL_PARAM_construct_octet_string(
      OSSL_KDF_PARAM_KEY, (void *)(material == NULL ? "" : material), material_length);
  if (salt_length > 0)
    params[count++] =
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_length);
  if (info_length > 0)
    params[count++] =
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_length);
  params[count] = OSSL_PARAM_construct_end();
  int done = context != NULL && EVP_KDF_derive(context, key, length, params) == 1;
  EVP_KDF_CTX_free(context);
  return larder_done(done);
}

// A key from what `builder` gathered, which it frees.
static inline EVP_PKEY *larder_key(const char *kind, int selection, OSSL_PARAM_BLD *builder) {
  OSSL_PARAM *params = builder == NULL ? NULL : OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
  EVP_PKEY *key = NULL;
  if (params == NULL || context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, selection, params) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(builder);
  larder_done(key != NULL);
  return key;
}

static inline EVP_PKEY *larder_rsa_public_key(
    const unsigned char *n, size_t n_length, const unsigned char *e, size_t e_length) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  BIGNUM *modulus = BN_bin2bn(n, (int)n_length, NULL), *exponent = BN_bin2bn(e, (int)e_length, NULL);
  if (builder == NULL || modulus == NULL || exponent == NULL ||
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) != 1) {
    OSSL_PARAM_BLD_free(builder);
    builder = NULL;
  }
  EVP_PKEY *key = larder_key("RSA", EVP_PKEY_PUBLIC_KEY, builder);
  BN_free(modulus);
  BN_free(exponent);
  return key;
}

// A public key from an uncompressed point. NULL for a point that is not on the curve.
static inline EVP_PKEY *larder_p256_public_key(const unsigned char point[65]) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (builder == NULL ||
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 65) != 1) {
    OSSL_PARAM_BLD_free(builder);
    builder = NULL;
  }
  EVP_PKEY *key = larder_key("EC", EVP_PKEY_PUBLIC_KEY, builder);
  EVP_PKEY_CTX *context = key == NULL ? NULL : EVP_PKEY_CTX_new(key, NULL);
  if (context == NULL || EVP_PKEY_public_check(context) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(context);
  larder_done(key != NULL);
  return key;
}

// A private key from its number; writes the uncompressed public point.
static inline EVP_PKEY *larder_p256_private_key(
    const unsigned char scalar[32], unsigned char point[65]) {
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  BIGNUM *number = BN_secure_new();
  EC_POINT *product = group == NULL ? NULL : EC_POINT_new(group);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  int done = product != NULL && number != NULL && builder != NULL &&
             BN_bin2bn(scalar, 32, number) != NULL && !BN_is_zero(number) &&
             BN_cmp(number, EC_GROUP_get0_order(group)) < 0;
  if (done) BN_set_flags(number, BN_FLG_CONSTTIME);
  done = done && EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1 &&
         EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, 65, NULL) == 65 &&
         OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
         OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 65) == 1 &&
         OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number) == 1;
  if (!done) {
    OSSL_PARAM_BLD_free(builder);
    builder = NULL;
  }
  EVP_PKEY *key = larder_key("EC", EVP_PKEY_KEYPAIR, builder);
  EC_POINT_free(product);
  BN_clear_free(number);
  EC_GROUP_free(group);
  return key;
}

// With the key's own scheme: PKCS #1 v1.5 of RSA, DER of ECDSA.
static inline int larder_verify(
    EVP_PKEY *key, const EVP_MD *digest, const unsigned char *signature, size_t signature_length,
    const unsigned char *text, size_t text_length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int done = context != NULL && EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
             EVP_DigestVerify(context, signature, signature_length, text, text_length) == 1;
  EVP_MD_CTX_free(context);
  return larder_done(done);
}

static inline int larder_p256_verify(
    EVP_PKEY *key, const EVP_MD *digest, const unsigned char signature[64],
    const unsigned char *text, size_t text_length) {
  ECDSA_SIG *pair = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signature, 32, NULL), *s = BN_bin2bn(signature + 32, 32, NULL);
  unsigned char *der = NULL;
  int done = 0;
  if (pair != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(pair, r, s) == 1) {
    // The pair owns both.
    r = s = NULL;
    int length = i2d_ECDSA_SIG(pair, &der);
    done = length > 0 && larder_verify(key, digest, der, (size_t)length, text, text_length) == 1;
  }
  OPENSSL_free(der);
  BN_free(r);
  BN_free(s);
  ECDSA_SIG_free(pair);
  return larder_done(done);
}

static inline int larder_p256_sign(
    EVP_PKEY *key, const EVP_MD *digest, const unsigned char *text, size_t text_length,
    unsigned char signature[64]) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  unsigned char der[80];
  const unsigned char *start = der;
  size_t length = sizeof der;
  int done = context != NULL && EVP_DigestSignInit(context, NULL, digest, NULL, key) == 1 &&
             EVP_DigestSign(context, der, &length, text, text_length) == 1;
  ECDSA_SIG *pair = done ? d2i_ECDSA_SIG(NULL, &start, (long)length) : NULL;
  done = pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32 &&
         BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
  ECDSA_SIG_free(pair);
  EVP_MD_CTX_free(context);
  return larder_done(done);
}

#endif
