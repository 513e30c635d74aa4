import HTTPWire
import Model
import S3Wire
import TestSupport
import Testing

@testable import Gateway

/// Whose a request is, when it was signed, and for what.
struct S3AuthenticatorTests {
  @Test func whatTheKeySignedIsItsHolders() async throws {
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

  @Test func whatNobodySignedIsAnybodys() async throws {
    let access = try await SigningSetting().judge(SignedCase())
    #expect(!access.isSigned)
    #expect(!access.grant.caller.isAdmin && access.grant.isReadOnly)
  }

  @Test func aKeyMayDoWhatItIsFor() async throws {
    let setting = try await SigningSetting()
    let pics = try #require(BucketName("pics"))
    let key = try await setting.keys.issue(user: "u1", buckets: [pics], isReadOnly: true)
    var sent = SignedCase()
    sent.sign(by: key, at: setting.now)
    let grant = try await setting.judge(sent).grant
    #expect(grant.caller.user == "u1" && !grant.caller.isAdmin)
    #expect(grant.buckets == [pics] && grant.isReadOnly)
  }

  // MARK: When

  @Test(arguments: [
    (Int64(0), S3ErrorCode?.none), (900, nil), (-900, nil), (901, .requestTimeTooSkewed),
    (-901, .requestTimeTooSkewed), (86_400, .requestTimeTooSkewed),
  ])
  func clocksMayDifferByAQuarterOfAnHour(ahead: Int64, expected: S3ErrorCode?) async throws {
    let setting = try await SigningSetting()
    #expect(await setting.refusal(of: setting.signed(ahead: ahead))?.code == expected)
  }

  /// Signed before midnight, judged after it: the day is that of the request.
  @Test func theDayIsTheRequestsOwn() async throws {
    let setting = try await SigningSetting()
    setting.clock.advance(by: .seconds(86_400 - setting.now % 86_400 + 5))
    #expect(await setting.refusal(of: setting.signed(ahead: -10)) == nil)
    #expect(await setting.refusal(of: setting.presigned(ahead: -10)) == nil)
  }

  @Test(arguments: [
    (Int64(60), String?.none), (61, "expired"), (3600, "expired"), (0, nil), (-900, nil),
    (-901, "not valid yet"),
  ])
  func linksHoldForTheirTime(age: Int64, expected: String?) async throws {
    let setting = try await SigningSetting()
    let fault = await setting.refusal(of: setting.presigned(ahead: -age, lifetimeSeconds: 60))
    #expect(fault?.code == (expected == nil ? nil : .accessDenied))
    #expect(fault?.message.contains(expected ?? "") ?? true, "\(fault?.message ?? "")")
  }

  @Test(arguments: [
    ("X-Amz-Expires", "0"), ("X-Amz-Expires", "604801"), ("X-Amz-Expires", "x"),
    ("X-Amz-Date", "20231114"), ("X-Amz-Credential", "nobody"), ("X-Amz-SignedHeaders", ""),
  ])
  func linksThatCannotBeReadSaySo(name: String, value: String) async throws {
    let setting = try await SigningSetting()
    for change in [value, nil] {
      var sent = setting.presigned()
      sent[parameter: name] = change
      let fault = await setting.refusal(of: sent)
      #expect(fault?.code == .authorizationQueryParametersError)
      #expect(fault?.message.contains(name) == true)
    }
  }

  // MARK: For what

  @Test func aScopeIsForS3AndTheRegion() async throws {
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

  @Test func aScopeIsForTheDay() async throws {
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
