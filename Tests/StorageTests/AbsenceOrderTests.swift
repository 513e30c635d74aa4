import LosslessJSON
import Model
import Storage
import Testing

/// Two consecutive absences delete; "consecutive" refers to the order of the calls, whatever the
/// arrival order and whatever was returned in between.
struct AbsenceOrderTests {
  /// All scripts of five calls, `A` an absence and `P` a presence.
  private static let scripts = (0..<32).map { number in
    String((0..<5).map { number >> $0 & 1 == 0 ? "A" : "P" })
  }

  /// The final fields of an entity, each named after the call that wrote it; nil if it is deleted.
  /// It existed before with a field of its own.
  private static func expected(_ script: String) -> Set<String>? {
    var fields: Set<String> = ["old"]
    var isDoubted = false
    for (call, event) in script.enumerated() {
      if event == "P" {
        fields.insert("p\(call)")
        isDoubted = false
      } else if isDoubted {
        fields = []
        isDoubted = false
      } else {
        isDoubted = true
      }
    }
    return fields.isEmpty ? nil : fields
  }

  @Test(
    "Absences are judged in the order of the calls, whatever the arrival order",
    arguments: scripts)
  func everyArrivalOrderIsJudgedByCallNumbers(script: String) async throws {
    let fixture = try StoreFixture()
    let expected = Self.expected(script)
    var last: Int64 = 0
    for (run, order) in Permutations.all(of: script.count).enumerated() {
      let id = "\(run)"
      last = try await Self.play(script, id, order: order, after: last, fixture.store)
      let found = try await fixture.fields(of: .film(id))?.members?.map(\.name)
      #expect(found.map(Set.init) == expected, "\(script) in the order \(order)")
    }
    fixture.store.close()
  }

  /// - Returns: the last call's number.
  private static func play(
    _ script: String, _ id: String, order: [Int], after last: Int64, _ store: Store
  ) async throws -> Int64 {
    let events = Array(script)
    _ = try await store.apply(
      ResponseBuilder(call: last + 1).entity(.film(id), ["old": 1]).build())
    var left = Set(events.indices.map { last + 2 + Int64($0) })
    for index in order {
      let call = last + 2 + Int64(index)
      let builder = ResponseBuilder(call: call, horizon: left.min())
      left.remove(call)
      let isPresent = events[index] == "P"
      _ = try await store.apply(
        (isPresent
          ? builder.entity(.film(id), ["p\(index)": 1]) : builder.absent(.film(id))).build())
    }
    // Everything has arrived; the horizon of the next response shows it.
    let next = last + 2 + Int64(events.count)
    _ = try await store.apply(ResponseBuilder(call: next).build())
    return next
  }

  @Test("Absences in different scopes are not counted together")
  func absencesCountPerScope() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(ResponseBuilder(call: 1).film("1", ["title": "A"]).build())
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).absent(.film("1")).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, scope: .user("u")).absent(.film("1")).build())
    #expect(try await fixture.title(of: "1") == "A")
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).absent(.film("1")).build())
    #expect(try await fixture.title(of: "1") == nil)
  }
}
