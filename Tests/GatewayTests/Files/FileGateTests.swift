import Model
import Testing

@testable import Gateway

struct FileGateTests {
  private static func gate() throws -> FileGate {
    FileGate(
      rules: [
        try #require(BucketName("pics")): BucketRule(access: .publicRead),
        try #require(BucketName("mine")): BucketRule(
          access: .user, bytesMax: 100, userBytesMax: 10),
      ], isAdminOn: true)
  }

  private static func address(_ bucket: String, _ key: String) throws -> ObjectAddress {
    ObjectAddress(bucket: try #require(BucketName(bucket)), key: try #require(ObjectKey(key)))
  }

  private static let callers: [String: Caller] = [
    "nobody": .anonymous, "opaque": Caller(subject: "x", hasToken: true),
    "ann": Caller(subject: "ann", user: "ann"), "admin": Caller(isAdmin: true),
    "slashed": Caller(subject: "an", user: "ann/x"),
  ]

  @Test(
    "The bucket's rule decides who can read and write",
    arguments: [
      ("nobody", FileAction.read, "pics", "k", nil),
      ("nobody", .write, "pics", "k", .unauthenticated),
      ("ann", .write, "pics", "k", .forbidden),
      ("admin", .write, "pics", "k", nil),
      ("nobody", .read, "mine", "ann/k", .signInRequired),
      ("opaque", .read, "mine", "ann/k", .signInRequired),
      ("ann", .read, "mine", "ann/k", nil),
      ("ann", .write, "mine", "ann/k", nil),
      ("ann", .read, "mine", "annk", .forbidden),
      ("ann", .read, "mine", "ann", .forbidden),
      ("ann", .read, "mine", "bob/k", .forbidden),
      ("ann", .read, "mine", "ann/x/k", nil),
      ("slashed", .read, "mine", "ann/x/k", .forbidden),
      ("slashed", .read, "mine", "ann%2Fx/k", nil),
      ("admin", .write, "mine", "bob/k", nil),
      ("nobody", .read, "other", "k", .unauthenticated),
      ("ann", .read, "other", "k", .forbidden),
      ("admin", .read, "other", "k", nil),
    ] as [(String, FileAction, String, String, Failure.Code?)])
  func admits(
    who: String, action: FileAction, bucket: String, key: String, refusal: Failure.Code?
  ) throws {
    let caller = try #require(Self.callers[who])
    let (gate, address) = (try Self.gate(), try Self.address(bucket, key))
    var code: Failure.Code?
    do throws(Failure) {
      try gate.admit(caller, to: action, address)
    } catch {
      code = error.code
    }
    #expect(code == refusal)
  }

  @Test("Listings are narrowed to the user's own prefix")
  func narrowsListings() throws {
    let gate = try Self.gate()
    let mine = try #require(BucketName("mine"))
    let ann = try #require(Self.callers["ann"])
    #expect(try gate.admitListing(ann, of: mine, prefix: "") == "ann/")
    #expect(try gate.admitListing(ann, of: mine, prefix: "an") == "ann/")
    #expect(try gate.admitListing(ann, of: mine, prefix: "ann/x") == "ann/x")
    #expect(throws: Failure.self) { try gate.admitListing(ann, of: mine, prefix: "b") }
    #expect(throws: Failure.self) { try gate.admitListing(ann, of: mine, prefix: "annx") }
    let admin = try #require(Self.callers["admin"])
    #expect(try gate.admitListing(admin, of: mine, prefix: "") == "")
  }

  @Test("Bytes count for the owner of the key's prefix")
  func quotaOwner() throws {
    let gate = try Self.gate()
    #expect(
      gate.quota(of: try Self.address("mine", "ann/k"))
        == FileQuota(owner: "ann", bucketBytesMax: 100, ownerBytesMax: 10))
    #expect(gate.quota(of: try Self.address("pics", "ann/k")) == .none)
  }
}
