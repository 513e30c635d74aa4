import Model
import Testing
import Upstream

@testable import Generation

/// The types of `local.graphql` beside those of upstream.
struct LocalTypesTests {
  private static let schema = """
    type Query { film: Film }
    type Film { id: ID! mood: Mood }
    "How a film feels."
    enum Mood { CALM WILD }
    """

  private static func sample(
    _ local: String, dates: [String: DateFormat] = [:]
  ) throws -> Sample {
    try Sample(
      schema: schema, operations: ["query A { film { id mood } }"], local: local, dates: dates)
  }

  @Test(
    "The default of a date has the form in which the service sends it",
    arguments: [
      ("dd.MM.yyyy", "String", #" = "01.03.2026""#),
      ("seconds", "Double", " = 1772323200"),
      ("milliseconds", "Double", " = 1772323200000"),
      ("iso8601", "String", #" = "2026-03-01""#),
    ])
  func defaultsOfDates(format: String, type: String, fallback: String) throws {
    let dates = try #require(DateFormat(format))
    let files = try Self.sample(
      #"type Trip @local { id: ID! start: Date! @default(value: "2026-03-01") }"#,
      dates: ["Trip": dates]
    ).files(.swift)
    #expect(
      files["Trip.swift"]?.contains("public init(id: String, start: \(type)\(fallback)) {") == true,
      "\(files["Trip.swift"] ?? "")")
  }

  @Test(
    "An embedded type's dates have the format of all that contain it, or any form",
    arguments: [
      (#"type Trip @local { id: ID! place: Place }"#, "Double"),
      (#"extend type Film { place: Place @local }"#, "String"),
      (
        #"type Trip @local { id: ID! place: Place } extend type Film { place: Place @local }"#,
        "JSONValue"
      ),
    ])
  func datesOfEmbeddedTypes(owners: String, type: String) throws {
    let files = try Self.sample(
      owners + " type Place { seen: Date! }", dates: ["Trip": .seconds]
    ).files(.swift)
    #expect(files["Place.swift"]?.contains("public var seen: \(type)\n") == true)
  }

  private static let trip = "type Trip @local { id: ID! mood: Mood } enum Mood "

  @Test("An enum with the values of upstream's is that one", arguments: ["CALM WILD", "WILD CALM"])
  func enumsThatAreAlike(values: String) throws {
    let sample = try Self.sample(Self.trip + "{ \(values) }")
    let moods = sample.interface.enums.filter { $0.name == "Mood" }
    #expect(moods.map(\.description) == ["How a film feels."])
    #expect(moods.first?.values.map(\.name) == ["CALM", "WILD"])
    for language in TargetLanguage.allCases { _ = try sample.generator.files(language) }
  }

  @Test("An enum with other values than upstream's is a fault")
  func enumsThatDiffer() throws {
    let generator = try Self.sample(Self.trip + "{ CALM }").generator
    let faults = #expect(throws: GenerationFaults.self) { try generator.files(.swift) }
    #expect(
      faults?.description.contains("the enum Mood and the enum Mood have the same name") == true)
  }
}
