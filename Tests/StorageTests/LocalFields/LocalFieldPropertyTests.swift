import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Random writes of upstream and of several owners, evictions, deletions, purges and resets, against a model.
struct LocalFieldPropertyTests {
  private static let films = (1...6).map(String.init)
  private static let devices = ["d_1", "d_2"]
  private static let users = ["u", "v"]

  /// What every viewer must see.
  private struct LibraryModel {
    enum State: Equatable {
      case unknown
      case stored(title: String)
      case deleted
    }

    var films: [String: State] = [:]
    /// By device and film.
    var stars: [String: [String: Int64]] = [:]
    /// By user and film.
    var notes: [String: [String: String]] = [:]

    func hasFields(_ film: String) -> Bool {
      (stars.values.map { $0[film] != nil } + notes.values.map { $0[film] != nil }).contains(true)
    }

    /// The fields that a caller sees; nil if it does not see the film.
    func seen(_ film: String, device: String?, user: String?) -> JSONValue? {
      let (own, note) = (device.flatMap { stars[$0]?[film] }, user.flatMap { notes[$0]?[film] })
      var fields: JSONValue = ["id": .string(film)]
      switch films[film] ?? .unknown {
      case .unknown: return nil
      case .stored(let title): fields["title"] = .string(title)
      case .deleted:
        guard own != nil || note != nil else { return nil }
        fields[StoredForm.deletedMember] = true
      }
      if device != nil {
        fields["favourite"] = false
        fields["lists"] = []
        fields["stars"] = own.map { .number(JSONNumber($0)) } ?? .null
      }
      if user != nil { fields["note"] = note.map { .string($0) } ?? .null }
      return fields
    }
  }

  private struct Caller: Hashable, CustomStringConvertible {
    let device: String?
    let user: String?

    var viewer: Viewer {
      Viewer(
        layers: (device.map { [.ownData(ofDevice: $0)] } ?? [])
          + (user.map { [.ownData(ofUser: $0)] } ?? []) + [.public])
    }

    var description: String { "device \(device ?? "none"), user \(user ?? "none")" }
  }

  private static let callers = ([nil] + devices).flatMap { device in
    ([nil] + users).map { Caller(device: device, user: $0) }
  }

  @Test(
    "Every caller sees upstream's fields and its own local ones, and nothing of others",
    arguments: [21, 22, 23, 24] as [UInt64])
  func matchesModel(seed: UInt64) async throws {
    let world = try FieldWorld()
    for device in Self.devices {
      try await world.store.register(DeviceTests.phone(device), tokenDigest: device)
    }
    var random = SeededGenerator(seed: seed)
    var model = LibraryModel()
    var call: Int64 = 0
    var followers = Dictionary(
      uniqueKeysWithValues: Self.callers.map { ($0, LogFollower($0.viewer)) })
    for number in 0..<150 {
      let film = Self.films.randomElement(using: &random) ?? "1"
      let device = Self.devices.randomElement(using: &random) ?? "d_1"
      let user = Self.users.randomElement(using: &random) ?? "u"
      let place = "seed \(seed), step \(number), film \(film)"
      switch Int.random(in: 0..<14, using: &random) {
      case 0..<4:
        call += 1
        let title = "Title \(Int.random(in: 0..<3, using: &random))"
        _ = try await world.fetch(call, film, ["title": .string(title)])
        model.films[film] = .stored(title: title)
      case 4, 5:
        call += 1
        _ = try await world.store.apply(ResponseBuilder(call: call).deleting(.film(film)).build())
        model.films[film] = .deleted
      case 6..<9:
        let stars = Int64.random(in: 1...5, using: &random)
        let isSeen = model.seen(film, device: device, user: nil) != nil
        let result = try await world.write(
          film, ["stars": .number(JSONNumber(stars))], by: device)
        #expect(Self.isDone(result) == isSeen, "\(place): \(result)")
        if isSeen { model.stars[device, default: [:]][film] = stars }
      case 9..<11:
        let note = "note \(number)"
        let isSeen = model.seen(film, device: device, user: user) != nil
        let result = try await world.write(film, ["note": .string(note)], by: device, user: user)
        #expect(Self.isDone(result) == isSeen, "\(place): \(result)")
        if isSeen { model.notes[user, default: [:]][film] = note }
      case 11:
        _ = try await world.evict(day: 1)
        for film in Self.films {
          guard case .stored = model.films[film] else { continue }
          let isThere = try await world.seen(film, by: .anonymous) != nil
          #expect(isThere || !model.hasFields(film), "\(place): \(film) was evicted")
          if !isThere { model.films[film] = .unknown }
        }
      case 12:
        call += 1
        _ = try await world.store.purge(
          [.entity(.film(film))], in: nil, call: CallNumber(call), horizon: CallNumber(call))
        model.films[film] = .unknown
      default:
        _ = try await world.store.reset(device: device, at: Timestamp(milliseconds: 5))
        model.stars[device] = [:]
      }
      let compared =
        number % 5 == 4
        ? Self.callers : [Self.callers.randomElement(using: &random) ?? Self.callers[0]]
      for caller in compared { try await compare(world, model, caller, place) }
      if number % 10 == 9 {
        for caller in Self.callers {
          guard var follower = followers[caller] else { continue }
          try await follower.takePage(from: world.store)
          followers[caller] = follower
          let held = follower.held
          for film in Self.films {
            guard let seen = model.seen(film, device: caller.device, user: caller.user) else {
              continue
            }
            #expect(held[.film(film)] == Self.text(seen), "\(place): changes of \(caller)")
          }
        }
      }
    }
  }

  private static func isDone(_ result: Result<WriteCommit, WriteRefusal>) -> Bool {
    if case .success = result { true } else { false }
  }

  private static func text(_ value: JSONValue) -> String {
    (value.members ?? []).sorted { $0.name < $1.name }
      .map { "\($0.name)=\($0.value.canonicalText)" }.joined(separator: " ")
  }

  private func compare(
    _ world: FieldWorld, _ model: LibraryModel, _ caller: Caller, _ place: String
  ) async throws {
    let expected = Self.films.reduce(into: [String: String]()) { all, film in
      all[film] = model.seen(film, device: caller.device, user: caller.user).map(Self.text)
    }
    var single: [String: String] = [:]
    for film in Self.films {
      single[film] = try await world.seen(film, by: caller.viewer).map(Self.text)
    }
    #expect(single == expected, "\(place): single reads of \(caller)")
    let page = try await world.store.page(
      EntityQuery(type: FieldWorld.film, wantsTotal: true), viewer: caller.viewer)
    let listed = try page.items.map { ($0.key.key, Self.text(try FieldWorld.united($0.record))) }
    #expect(
      Dictionary(listed, uniquingKeysWith: { $1 }) == expected, "\(place): the list of \(caller)")
    #expect(page.total == expected.count, "\(place): the total of \(caller)")
    let stars = caller.device.flatMap { model.stars[$0] } ?? [:]
    let starred = stars.filter { expected[$0.key] != nil && $0.value > 2 }
    #expect(
      try await world.films("stars > 2", by: caller.viewer) == starred.keys.sorted(),
      "\(place): the filter of \(caller)")
    let notes = caller.user.flatMap { model.notes[$0] } ?? [:]
    let noted = notes.filter { expected[$0.key] != nil }
    #expect(
      try await world.films("note CONTAINS 'note'", by: caller.viewer) == noted.keys.sorted(),
      "\(place): the filter by notes of \(caller)")
  }
}
