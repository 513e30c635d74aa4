import GRDB
import LosslessJSON
import Model
import Storage
import Testing

struct DeviceTests {
  static func phone(_ id: String, lastUsed: Int64 = 1_000) -> Device {
    Device(
      id: id, platform: "ios", name: "Ada's", pushToken: "push",
      registered: Timestamp(milliseconds: 1), lastUsed: Timestamp(milliseconds: lastUsed))
  }

  @Test("A registered device is found by its token")
  func registeredDeviceIsFound() async throws {
    let fixture = try StoreFixture()
    let phone = Self.phone("d_1")
    try await fixture.store.register(phone, tokenDigest: "one")
    #expect(try await fixture.store.device(tokenDigest: "one") == phone)
    #expect(try await fixture.store.device(tokenDigest: "two") == nil)
  }

  @Test("A change sets only the named members")
  func changeIsPartial() async throws {
    let fixture = try StoreFixture()
    try await fixture.store.register(Self.phone("d_1"), tokenDigest: "one")
    var expected = Self.phone("d_1")
    expected.name = nil
    expected.platform = "android"
    #expect(
      try await fixture.store.change(
        device: "d_1", DeviceChange(platform: "android", name: .set(nil))) == expected)
    #expect(try await fixture.store.device(tokenDigest: "one") == expected)
    #expect(try await fixture.store.change(device: "d_2", DeviceChange()) == nil)
  }

  @Test("A token is replaced only if the old one is valid")
  func tokenReplacementNeedsOldToken() async throws {
    let fixture = try StoreFixture()
    try await fixture.store.register(Self.phone("d_1"), tokenDigest: "one")
    #expect(try await fixture.store.replaceToken(from: "one", to: "two"))
    #expect(try await fixture.store.replaceToken(from: "one", to: "three") == false)
    #expect(try await fixture.store.device(tokenDigest: "one") == nil)
    #expect(try await fixture.store.device(tokenDigest: "two")?.id == "d_1")
  }

  private static func token(_ id: String, made: Int64, expires: Int64) -> DeviceReadToken {
    DeviceReadToken(
      id: id, made: Timestamp(milliseconds: made), expires: Timestamp(milliseconds: expires))
  }

  @Test("A token that only reads finds its device, and ends with the device's own token")
  func readTokenFindsDevice() async throws {
    let fixture = try StoreFixture()
    try await fixture.store.register(Self.phone("d_1"), tokenDigest: "one")
    let token = Self.token("t_1", made: 1_000, expires: 2_000)
    #expect(
      try await fixture.store.add(token, tokenDigest: "read", by: "one", countMax: 2) == .added)
    let found = try #require(try await fixture.store.device(tokenDigest: "read"))
    #expect(found.id == "d_1" && found.access == .read && found.tokenExpires == token.expires)
    #expect(try await fixture.store.device(tokenDigest: "one") == Self.phone("d_1"))
    #expect(try await fixture.store.readTokens(of: "d_1") == [token])
    // Neither a token that only reads nor a former one can add another.
    #expect(
      try await fixture.store.add(token, tokenDigest: "x", by: "read", countMax: 2) == .unknown)
    #expect(try await fixture.store.replaceToken(from: "read", to: "two") == false)
    #expect(try await fixture.store.replaceToken(from: "one", to: "two"))
    #expect(try await fixture.store.device(tokenDigest: "read") == nil)
    #expect(
      try await fixture.store.add(token, tokenDigest: "x", by: "one", countMax: 2) == .unknown)
  }

  @Test("Expired tokens make room, are removed, and those of a removed device with it")
  func readTokensAreRemoved() async throws {
    let fixture = try StoreFixture()
    for id in ["d_1", "d_2"] { try await fixture.store.register(Self.phone(id), tokenDigest: id) }
    for (number, device) in ["d_1", "d_1", "d_2"].enumerated() {
      let token = Self.token("t_\(number)", made: 1_000, expires: 2_000 + Int64(number))
      #expect(
        try await fixture.store.add(token, tokenDigest: "r\(number)", by: device, countMax: 2)
          == .added)
    }
    let early = Self.token("t_3", made: 1_999, expires: 9_000)
    #expect(try await fixture.store.add(early, tokenDigest: "r3", by: "d_1", countMax: 2) == .full)
    let later = Self.token("t_3", made: 2_000, expires: 9_000)
    #expect(try await fixture.store.add(later, tokenDigest: "r3", by: "d_1", countMax: 2) == .added)
    #expect(try await fixture.store.device(tokenDigest: "r0") == nil)
    #expect(try await fixture.store.removeReadToken("t_3", of: "d_2") == false)
    let moment = Timestamp(milliseconds: 2_002)
    #expect(try await fixture.store.removeReadTokens(expiredAt: moment, limit: 1) == 1)
    #expect(try await fixture.store.removeReadTokens(expiredAt: moment, limit: 9) == 1)
    #expect(try await fixture.store.readTokens(of: "d_1") == [later])
    #expect(try await fixture.store.remove(device: "d_1"))
    #expect(try await fixture.store.device(tokenDigest: "r3") == nil)
    #expect(try await fixture.store.readTokens(of: "d_1") == [])
  }

  @Test("A device that was registered to read only stays so")
  func readOnlyDevice() async throws {
    let fixture = try StoreFixture()
    var phone = Self.phone("d_1")
    phone.access = .read
    try await fixture.store.register(phone, tokenDigest: "one")
    #expect(try await fixture.store.device(tokenDigest: "one") == phone)
    #expect(try await fixture.store.bind(device: "d_1", to: "ada")?.access == .read)
  }

  @Test("A device stays bound to its first user")
  func firstUserKeepsDevice() async throws {
    let fixture = try StoreFixture()
    try await fixture.store.register(Self.phone("d_1"), tokenDigest: "one")
    #expect(try await fixture.store.bind(device: "d_1", to: "ada")?.user == "ada")
    #expect(try await fixture.store.bind(device: "d_1", to: "bob")?.user == "ada")
  }

  @Test("Removing a device removes its data")
  func removalIncludesData() async throws {
    let fixture = try StoreFixture()
    for id in ["d_1", "d_2"] {
      try await fixture.store.register(Self.phone(id), tokenDigest: "token of \(id)")
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 1, scope: .device(id)).film("1", ["title": .string(id)])
          .result("Film", root: [:]).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2).film("1", ["title": "public"]).build())
    #expect(try await fixture.store.remove(device: "d_1"))
    #expect(try await fixture.store.remove(device: "d_1") == false)
    #expect(try await fixture.store.device(tokenDigest: "token of d_1") == nil)
    let own = Viewer(layers: [.device("d_1"), .public])
    let others = Viewer(layers: [.device("d_2"), .public])
    #expect(try await fixture.title(of: "1", viewer: own) == "public")
    #expect(try await fixture.title(of: "1", viewer: others) == "d_2")
    #expect(try await fixture.count("result") == 1)
    #expect(try await fixture.count("change") == 2)
    #expect(try await fixture.count("private_row") == 1)
  }

  @Test("A device used after it was set aside stays")
  func usedDevicesStay() async throws {
    let fixture = try StoreFixture()
    for (id, lastUsed) in [("d_1", 10), ("d_2", 20), ("d_3", 30)] as [(String, Int64)] {
      try await fixture.store.register(Self.phone(id, lastUsed: lastUsed), tokenDigest: id)
    }
    let moment = Timestamp(milliseconds: 25)
    let now = Timestamp(milliseconds: 100)
    let found = try await fixture.store.setAsideDevices(unusedSince: moment, at: now, limit: 9)
    #expect(found.aside == 2 && found.kept == 0)
    try await fixture.store.touch(device: "d_1", at: Timestamp(milliseconds: 40))
    let later = Timestamp(milliseconds: 101)
    #expect(try await fixture.store.devicesSetAside(before: now, limit: 9) == [])
    #expect(try await fixture.store.devicesSetAside(before: later, limit: 9) == ["d_2"])
    #expect(try await fixture.store.remove(device: "d_1", setAsideBefore: later) == false)
    #expect(try await fixture.store.remove(device: "d_2", setAsideBefore: now) == false)
    #expect(try await fixture.store.remove(device: "d_2", setAsideBefore: later))
  }
}
