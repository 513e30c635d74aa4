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
