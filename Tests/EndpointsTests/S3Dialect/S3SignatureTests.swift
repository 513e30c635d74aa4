import Gateway
import HTTPWire
import Logging
import Model
import S3Wire
import TestSupport
import Testing

@testable import Endpoints

/// Verification of request signatures.
struct S3SignatureTests {
  /// A change of a request after it was signed.
  enum Change: String, CaseIterable {
    case method, path, query, moreQuery, host, field, payload, signature, time

    func apply(to sent: inout SignedCase, isPresigned: Bool) {
      switch self {
      case .method: sent.method = "DELETE"
      case .path: sent.path += "c"
      case .query: sent[parameter: "tagging"] = "x"
      case .moreQuery: sent[parameter: "acl"] = ""
      case .host: sent["host"] = "other.example"
      case .field: sent["x-amz-meta-colour"] = "red"
      case .payload: sent["x-amz-content-sha256"] = PayloadHash(of: [2]).text
      case .signature:
        let zeros = String(repeating: "0", count: 64)
        sent[parameter: PresignedQuery.signatureName] = isPresigned ? zeros : nil
        sent["authorization"] = sent["authorization"].map { $0.dropLast(64) + zeros }
      case .time:
        // Still the same day, and within the clock skew.
        if isPresigned {
          sent[parameter: "X-Amz-Expires"] = "61"
        } else {
          sent["x-amz-date"] = sent["x-amz-date"].map { $0.dropLast(2) + "1Z" }
        }
      }
    }
  }

  @Test("An altered request is refused", arguments: Change.allCases)
  func refusesAlteredRequests(change: Change) async throws {
    let setting = try await SigningSetting()
    for isPresigned in [false, true] {
      var sent = isPresigned ? setting.presigned() : setting.signed()
      change.apply(to: &sent, isPresigned: isPresigned)
      // A link signs one field only; other fields must not be present.
      let isUnsigned = isPresigned && (change == .field || change == .payload)
      #expect(
        await setting.refusal(of: sent)?.code
          == (isUnsigned ? .accessDenied : .signatureDoesNotMatch),
        "presigned: \(isPresigned)")
    }
  }

  @Test("Host and x-amz- fields must be signed")
  func requiresSignedFields() async throws {
    let setting = try await SigningSetting()
    for name in ["x-amz-meta-colour", "x-amz-date", "x-amz-content-sha256", "host"] {
      var sent = SignedCase()
      sent.sign(by: setting.key, at: setting.now, unsigned: [name])
      #expect(await setting.refusal(of: sent)?.code == .accessDenied, "\(name)")
    }
    for sent in [setting.signed(), setting.presigned()] {
      var sent = sent
      sent["x-amz-acl"] = "private"
      let fault = await setting.refusal(of: sent)
      #expect(fault?.code == .accessDenied && fault?.message.contains("x-amz-acl") == true)
      sent["x-amz-acl"] = nil
      sent["user-agent"] = "a proxy's"
      #expect(await setting.refusal(of: sent) == nil)
    }
  }

  @Test("A request without content must have the digest of empty content")
  func emptyContentDigest() async throws {
    let setting = try await SigningSetting()
    for (payload, expected) in [
      (PayloadHash(of: [1]), S3ErrorCode.contentSHA256Mismatch), (.empty, nil), (.unsigned, nil),
    ] {
      var sent = SignedCase()
      sent.hasContent = false
      sent.sign(by: setting.key, at: setting.now, payload: payload)
      #expect(await setting.refusal(of: sent)?.code == expected, "\(payload.text)")
    }
    var sent = setting.signed()
    sent["x-amz-content-sha256"] = "nonsense"
    #expect(await setting.refusal(of: sent)?.code == .invalidArgument)
    sent["x-amz-content-sha256"] = nil
    #expect(await setting.refusal(of: sent)?.code == .invalidRequest)
  }

  @Test("Only active keys can sign")
  func refusesInvalidKeys() async throws {
    let setting = try await SigningSetting()
    let stranger = try await SigningSetting().key
    var sent = SignedCase()
    sent.sign(by: stranger, at: setting.now)
    #expect(await setting.refusal(of: sent)?.code == .invalidAccessKeyID)

    // Found in the store, then in the cache.
    for sent in [setting.signed(), setting.presigned()] {
      #expect(await setting.refusal(of: sent) == nil)
    }
    try await setting.keys.revoke(setting.key.key.id)
    for sent in [setting.signed(), setting.presigned()] {
      #expect(await setting.refusal(of: sent)?.code == .invalidAccessKeyID)
    }
  }

  @Test("A request cannot be signed in two ways")
  func refusesTwoSignatures() async throws {
    let setting = try await SigningSetting()
    var both = setting.presigned()
    both.sign(by: setting.key, at: setting.now)
    #expect(await setting.refusal(of: both)?.code == .invalidArgument)
    var old = SignedCase()
    old["authorization"] = "AWS \(setting.key.key.id):c2lnbmF0dXJl"
    #expect(await setting.refusal(of: old)?.code == .invalidRequest)
    old = SignedCase()
    old[parameter: "AWSAccessKeyId"] = setting.key.key.id
    old[parameter: "Signature"] = "c2lnbmF0dXJl"
    #expect(await setting.refusal(of: old)?.code == .invalidRequest)
    var torn = setting.signed()
    torn["authorization"] = "AWS4-HMAC-SHA256 Credential=x"
    #expect(await setting.refusal(of: torn)?.code == .authorizationHeaderMalformed)
  }

  /// Some clients treat the base path as part of the host, and a proxy can replace the requested
  /// host.
  @Test("Path and host variants of known clients are accepted")
  func acceptsClientPathVariants() async throws {
    let setting = try await SigningSetting()
    for (host, path, isGood) in [
      ("files.example/s3", "/pics/a%20b", true), ("public.example", "/s3/pics/a%20b", true),
      ("public.example/s3", "/pics/a%20b", true), ("files.example", "/pics/a%20b", true),
      ("other.example", "/s3/pics/a%20b", false),
    ] {
      var sent = SignedCase()
      sent.forwardedHost = "public.example"
      sent.sign(by: setting.key, at: setting.now, as: (path, host))
      let expected = isGood ? nil : S3ErrorCode.signatureDoesNotMatch
      #expect(await setting.refusal(of: sent)?.code == expected, "\(host)\(path)")
    }
  }

  @Test("A signature for one key is not valid for another if the path begins at the root")
  func basePathAtRoot() async throws {
    let setting = try await SigningSetting()
    for (sent, signed) in [("/s3/avatar.png", "/avatar.png"), ("/s3/", "/")] {
      for isBelowBasePath in [true, false] {
        var request = SignedCase()
        request.path = sent
        request.isBelowBasePath = isBelowBasePath
        request.sign(by: setting.key, at: setting.now, as: (signed, "files.example"))
        let expected: S3ErrorCode? = isBelowBasePath ? nil : .signatureDoesNotMatch
        #expect(await setting.refusal(of: request)?.code == expected, "\(sent)")
      }
    }
  }

  /// The expected canonical request is for the operator, not for the client.
  @Test("The expected canonical request is only in the log")
  func canonicalRequestIsOnlyLogged() async throws {
    let setting = try await SigningSetting()
    var sent = SignedCase()
    sent["x-amz-security-token"] = "a-token-of-the-clients"
    sent.sign(by: setting.key, at: setting.now)
    sent["x-amz-meta-colour"] = "red"
    let fault = try #require(await setting.refusal(of: sent))
    #expect(fault.code == .signatureDoesNotMatch)

    let line = try #require(setting.log.lines.first)
    #expect(setting.log.lines.count == 1 && line.level == .debug)
    let canonical = "\(line.metadata["canonical_request"] ?? "")"
    #expect(canonical.hasPrefix("PUT\n/s3/pics/a%20b\ntagging=\n"), "\(canonical)")
    #expect(canonical.contains("\nx-amz-meta-colour:red\n"))
    #expect(canonical.hasSuffix("\n\(PayloadHash(of: [1]).text)"))
    #expect("\(line.metadata["request_id"] ?? "")" == "the-request")
    #expect("\(line.metadata["access_key"] ?? "")" == setting.key.key.id)
    let written = "\(line.metadata)"
    for secret in [setting.key.secret, "a-token-of-the-clients"] {
      #expect(!written.contains(secret))
    }
    for told in [fault.message, fault.failure?.cause ?? ""] {
      for part in ["x-amz", "red", "files.example", PayloadHash(of: [1]).text] {
        #expect(!told.contains(part), "\(told)")
      }
    }
  }
}
