import LosslessJSON
import Model
import TestSupport
import Testing

/// Ids of local types with keys of their own.
struct LocalKeyTests {
  private static func type(_ scalars: LocalScalar..., dates: DateFormat = .iso8601) -> LocalType {
    let names = scalars.indices.map { "k\($0)" }
    return LocalType(
      name: "T", scope: .device,
      fields: zip(names, scalars).map {
        LocalField(name: $0, kind: .scalar($1), nonNull: [true])
      }, keyFields: names
    ).with(indexes: [], search: [], dates: dates)
  }

  @Test(
    "A key in a path is read by the type of its field",
    arguments: [
      (LocalScalar.int, "7", "7"), (.int, "-7", "-7"), (.int, "2147483648", nil), (.int, "07", nil),
      (.int, "7.0", nil), (.int, "x", nil), (.int8, "128", nil),
      (.int64, "9223372036854775807", "9223372036854775807"), (.int64, "9223372036854775808", nil),
      (.float, "7.0", "7"), (.float, "1e2", "100"), (.double, "0.5", "0.5"), (.float, "NaN", nil),
      (.boolean, "true", "true"), (.boolean, "1", nil), (.string, "07", "07"), (.id, "a b", "a b"),
      (.string, "", nil), (.string, "a\u{0}", nil),
      (.date, "2026-01-31", "2026-01-31"), (.date, "soon", nil),
      (.data, "aGk=", "aGk="), (.data, "a", nil),
    ] as [(LocalScalar, String, String?)])
  func pathKeys(_ scalar: LocalScalar, _ text: String, _ id: String?) {
    #expect(Self.type(scalar).canonicalID(text) == id)
  }

  @Test("Numbers stay numbers in the stored key, and dates can be written in their type's format")
  func storedValues() throws {
    let number = try #require(Self.type(.int64).keyValues(of: "9007199254740993")?.first)
    #expect(number.value == .number(JSONNumber(9_007_199_254_740_993 as Int64)))
    let seconds = Self.type(.date, dates: .seconds)
    let stored = try #require(seconds.canonicalID("1767225600"))
    // References and changes show the stored form.
    #expect(seconds.canonicalID(stored) == stored)
    #expect(stored.hasPrefix("2026-01-01T00:00:00"))
  }

  @Test("Several key fields form the id as for upstream's entities")
  func compositeIDs() {
    let type = Self.type(.string, .int)
    #expect(type.id(of: ["k0": "de", "k1": 1990]) == "2:de4:1990")
    #expect(type.id(of: ["k0": "de"]) == nil)
    #expect(type.keyValues(of: "2:de4:1990")?.map(\.value) == ["de", 1990])
    for wrong in [
      "de:1990", "2:de4:199", "2:de5:1990", "02:de4:1990", "2:de", "2:de4:1990x", "1:é4:1990",
    ] {
      #expect(type.canonicalID(wrong) == nil, "\(wrong)")
    }
    #expect(type.madeKeyField == nil)
    #expect(Self.type(.id).madeKeyField == "k0")
    #expect(Self.type(.string).madeKeyField == nil)
  }

  @Test("Every composite key is read back as its fields", arguments: [11 as UInt64, 12, 13])
  func compositesAreReadBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = ["a", "1", ":", "é", "🎬", "\u{301}", ""]
    for _ in 0..<500 {
      let fields = (0..<Int.random(in: 2...4, using: &random)).map { _ in
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? ""
        }.joined()
      }
      let key = EntityKey(type: "T", fields: fields).key
      let read = EntityKey.fields(of: key, count: fields.count)
      #expect(
        read.map { $0.map { Array($0.utf8) } } == fields.map { Array($0.utf8) }, "seed \(seed)")
      #expect(EntityKey.fields(of: key, count: fields.count + 1) == nil)
    }
  }

  @Test("A reference to an interface names its type, and a number is the id of a numeric key")
  func references() {
    let schema = LocalSchema(
      types: ["T": Self.type(.int)], objects: [:], enums: [:],
      interfaces: ["I": LocalInterface(name: "I", fields: [], types: ["T"])])
    let plain = LocalField(name: "f", kind: .entity("T", nil), nonNull: [true])
    let mixed = LocalField(
      name: "f", kind: .entity("I", nil), nonNull: [true], possibleTypes: ["T"])
    let key = JSONValue.storedReference(to: EntityKey(type: "T", key: "7"))
    var faults: [String] = []
    func read(_ value: JSONValue, _ field: LocalField) -> JSONValue? {
      var reader = LocalValueReader(schema: schema)
      let read = reader.read(value, field, at: "/f")
      faults = reader.faults.map(\.detail)
      return read
    }
    #expect(read(7, plain) == key)
    #expect(read("7", plain) == key)
    #expect(read(["type": "T", "id": 7], mixed) == key)
    #expect(faults == [])
    #expect(read("x", plain) == nil)
    #expect(faults == ["is not an id"])
    for wrong in ["7", ["type": "U", "id": 7], ["type": "T"], ["type": "T", "id": "x"]]
      as [JSONValue]
    {
      #expect(read(wrong, mixed) == nil, "\(wrong)")
      #expect(faults == [#"is not {"type", "id"} of a T"#], "\(wrong)")
    }
  }
}
