import Gateway
import HTTPWire
import Model
import S3Wire
import TestSupport
import Testing

@testable import Endpoints

/// Authentication of S3 requests by key, time and scope.
struct S3AuthenticatorTests {
  @Test("A signed request has its key's rights")
  func signedRequestHasKeysRights() async throws {
    let setting = try await SigningSetting()
    for sent in [setting.signed(), setting.presigned()] {
      let access = try await setting.judge(sent)
      #expect(access.grant.caller.isAdmin)
      #expect(access.region == SignedCase.region)
    }
    #expect(try await setting.judge(setting.signed()).payload == PayloadHash(of: [1]))
    #expect(try await setting.judge(setting.presigned()).payload == .unsigned)
    #expect(setting.log.lines.isEmpty)
  }

  @Test("An unsigned request is anonymous")
  func unsignedRequestIsAnonymous() async throws {
    let access = try await SigningSetting().judge(SignedCase())
    #expect(!access.isSigned)
    #expect(!access.grant.caller.isAdmin && access.grant.isReadOnly)
  }

  @Test("An access key's restrictions apply")
  func keyRestrictions() async throws {
    let setting = try await SigningSetting()
    let pics = try #require(BucketName("pics"))
    let key = try await setting.keys.issue(user: "u1", buckets: [pics], isReadOnly: true)
    var sent = SignedCase()
    sent.sign(by: key, at: setting.now)
    let grant = try await setting.judge(sent).grant
    #expect(grant.caller.user == "u1" && !grant.caller.isAdmin)
    #expect(grant.buckets == [pics] && grant.isReadOnly)
  }

  // MARK: Time

  @Test(
    "Clocks can differ by 15 minutes",
    arguments: [
      (Int64(0), S3ErrorCode?.none), (900, nil), (-900, nil), (901, .requestTimeTooSkewed),
      (-901, .requestTimeTooSkewed), (86_400, .requestTimeTooSkewed),
    ])
  func clockSkew(ahead: Int64, expected: S3ErrorCode?) async throws {
    let setting = try await SigningSetting()
    #expect(await setting.refusal(of: setting.signed(ahead: ahead))?.code == expected)
  }

  /// Signed before midnight and verified after it: the date is the request's.
  @Test("A request signed before midnight is valid after it")
  func requestDate() async throws {
    let setting = try await SigningSetting()
    setting.clock.advance(by: .seconds(86_400 - setting.now % 86_400 + 5))
    #expect(await setting.refusal(of: setting.signed(ahead: -10)) == nil)
    #expect(await setting.refusal(of: setting.presigned(ahead: -10)) == nil)
  }

  @Test(
    "A presigned link is valid for its lifetime",
    arguments: [
      (Int64(60), String?.none), (61, "expired"), (3600, "expired"), (0, nil), (-900, nil),
      (-901, "not valid yet"),
    ])
  func linkLifetime(age: Int64, expected: String?) async throws {
    let setting = try await SigningSetting()
    let fault = await setting.refusal(of: setting.presigned(ahead: -age, lifetimeSeconds: 60))
    #expect(fault?.code == (expected == nil ? nil : .accessDenied))
    #expect(fault?.message.contains(expected ?? "") ?? true, "\(fault?.message ?? "")")
  }

  @Test(
    "Malformed presigned links are reported",
    arguments: [
      ("X-Amz-Expires", "0"), ("X-Amz-Expires", "604801"), ("X-Amz-Expires", "x"),
      ("X-Amz-Date", "20231114"), ("X-Amz-Credential", "nobody"), ("X-Amz-SignedHeaders", ""),
    ])
  func malformedLinks(name: String, value: String) async throws {
    let setting = try await SigningSetting()
    for change in [value, nil] {
      var sent = setting.presigned()
      sent[parameter: name] = change
      let fault = await setting.refusal(of: sent)
      #expect(fault?.code == .authorizationQueryParametersError)
      #expect(fault?.message.contains(name) == true)
    }
  }

  // MARK: Scope

  @Test("The credential scope must name S3 and the region")
  func scopeServiceAndRegion() async throws {
    let setting = try await SigningSetting()
    #expect(await setting.refusal(of: setting.signed(), region: SignedCase.region) == nil)
    for sent in [setting.signed(), setting.presigned()] {
      let fault = await setting.refusal(of: sent, region: "us-east-1")
      #expect(fault?.code == .authorizationHeaderMalformed)
      #expect(fault?.message.contains("us-east-1") == true)
    }
    let day = SignatureTime(HTTPDate(secondsSince1970: setting.now)).day
    for (scope, expected) in [
      (SignatureScope(day: day, region: "anywhere-9"), S3ErrorCode?.none),
      (
        SignatureScope(day: day, region: SignedCase.region, service: "iam"),
        .authorizationHeaderMalformed
      ),
    ] {
      var sent = SignedCase()
      sent.sign(by: setting.key, at: setting.now, scope: scope)
      #expect(await setting.refusal(of: sent)?.code == expected)
      sent = SignedCase()
      sent.presign(by: setting.key, at: setting.now, lifetimeSeconds: 60, scope: scope)
      #expect(await setting.refusal(of: sent)?.code == expected)
    }
  }

  @Test("The credential scope must name the request's date")
  func scopeDate() async throws {
    let setting = try await SigningSetting()
    let yesterday = SignatureTime(HTTPDate(secondsSince1970: setting.now - 86_400)).day
    let scope = SignatureScope(day: yesterday, region: SignedCase.region)
    var sent = SignedCase()
    sent.sign(by: setting.key, at: setting.now, scope: scope)
    #expect(await setting.refusal(of: sent)?.code == .authorizationHeaderMalformed)
    sent = SignedCase()
    sent.presign(by: setting.key, at: setting.now, lifetimeSeconds: 60, scope: scope)
    #expect(await setting.refusal(of: sent)?.code == .authorizationQueryParametersError)
  }
}

struct S3ErrorCodeTests {
  /// Clients that wait for `100 Continue` cannot read a status line without one.
  @Test("Every status has a reason phrase", arguments: S3ErrorCode.allCases)
  func statusHasReasonPhrase(code: S3ErrorCode) {
    #expect((400..<600).contains(code.status))
    #expect(StatusLine.reason(code.status).utf8CodeUnitCount > 0, "\(code.status)")
  }
}
