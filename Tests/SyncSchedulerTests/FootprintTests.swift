import LosslessJSON
import Model
import Testing

struct FootprintTests {
  @Test(
    "Temporary ids are a tilde with a UUIDv7 or a ULID",
    arguments: [
      ("~01ARZ3NDEKTSV4RRFFQ69G5FAV", true), ("~01arz3ndektsv4rrffq69g5fav", true),
      ("~019a2f6e-7c1d-7abc-8def-0123456789ab", true),
      ("~019A2F6E-7C1D-7ABC-BDEF-0123456789AB", true),
      ("01ARZ3NDEKTSV4RRFFQ69G5FAV", false), ("~01ARZ3NDEKTSV4RRFFQ69G5FA", false),
      ("~81ARZ3NDEKTSV4RRFFQ69G5FAV", false), ("~01ARZ3NDEKTSV4RRFFQ69G5FAU", false),
      ("~019a2f6e-7c1d-4abc-8def-0123456789ab", false),
      ("~019a2f6e-7c1d-7abc-cdef-0123456789ab", false),
      ("~019a2f6e+7c1d-7abc-8def-0123456789ab", false), ("~", false), ("", false),
    ])
  func recognisesTemporaryIDs(text: String, isOne: Bool) {
    #expect((TemporaryID(text) != nil) == isOne)
  }

  @Test("Only whole strings are substituted")
  func substitutesWholeStrings() throws {
    let id = TemporaryID.test(1)
    let other = TemporaryID.test(2)
    let text = """
      {"id":"\(id.value)","in":["\(id.value)",{"x":"\(other.value)"}],"note":"see \(id.value)",\
      "\(id.value)":1}
      """
    let value = try JSONValue(parsing: text)
    #expect(TemporaryID.mentioned(in: value) == [id, other])
    let sent = TemporaryID.substituting([id: .film("77")], in: value)
    let expected = """
      {"id":"77","in":["77",{"x":"\(other.value)"}],"note":"see \(id.value)","\(id.value)":1}
      """
    #expect(sent == (try JSONValue(parsing: expected)))
  }

  @Test("Footprints conflict by object, reference and temporary id")
  func conflicts() {
    let film = Footprint(object: .film("9"))
    let director = Footprint(object: .film("1"), references: [.person("3")])
    #expect(!film.conflicts(with: director))
    #expect(director.conflicts(with: Footprint(object: .person("3"))))
    #expect(film.conflicts(with: Footprint(object: nil, references: [.film("9")])))
    let made = Footprint(
      object: .film(TemporaryID.test(1).value),
      creates: [TemporaryEntity(id: .test(1), type: "Film")])
    let mention = Footprint(object: .person("3"), mentions: [.test(1)])
    #expect(made.conflicts(with: mention))
    #expect(made.tokens.count == 1)
    #expect(made.needs.isEmpty)
    #expect(mention.needs == [.test(1)])
    #expect(
      mention.resolving([.test(1): .film("77")]).conflicts(with: Footprint(object: .film("77"))))
    #expect(!Footprint.empty.conflicts(with: .empty))
  }

  @Test("A footprint survives storage as JSON")
  func footprintRoundTrips() throws {
    let footprint = Footprint(
      object: .film("9"), references: [.person("3")], mentions: [.test(2)],
      creates: [TemporaryEntity(id: .test(1), type: "Film")])
    let read = try #require(Footprint(json: JSONValue(parsing: footprint.jsonBytes)))
    #expect(Set(read.tokens) == Set(footprint.tokens))
    #expect(read.creates == footprint.creates)
    #expect(Footprint(json: .object([])) == nil)
  }

  @Test("A fingerprint keeps its bytes")
  func fingerprintKeepsBytes() throws {
    let bytes = (0..<32).map { UInt8($0 * 7) }
    #expect(try #require(PayloadFingerprint(bytes)).bytes == bytes)
    #expect(PayloadFingerprint(Array(bytes.dropLast())) == nil)
    #expect(PayloadFingerprint(bytes) != PayloadFingerprint(bytes.reversed()))
  }
}
