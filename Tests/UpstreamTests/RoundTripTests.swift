import GraphQL
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Upstream

/// Stored responses are rendered byte for byte.
struct RoundTripTests {
  static let seeds = [UInt64](1...60)

  private static func registry(_ seed: UInt64) throws -> OperationRegistry {
    var random = SeededGenerator(seed: seed)
    let schema = GeneratedSchema(&random)
    var generator = OperationGenerator(schema: schema, random: random)
    let operations = ["One", "Two", "Three"].map { generator.operation(named: $0) }
    return try Samples.registry(operations.joined(separator: "\n"), schema: schema.sdl)
  }

  private static func variables(_ operation: RegisteredOperation, _ seed: UInt64) throws
    -> Variables
  {
    let yes = seed.isMultiple(of: 2) ? "true" : "false"
    let query = seed.isMultiple(of: 3) ? [("yes", yes)] : [("yes", yes), ("n", "\(seed % 3)")]
    return try operation.coerce(VariablesTests.parameters(query))
  }

  /// Nil for equal texts, otherwise both texts around the first difference.
  private static func difference(_ left: String, _ right: String) -> String? {
    if left == right { return nil }
    let same = zip(left, right).prefix { $0 == $1 }.count
    let from = max(0, same - 60)
    return "\(left.dropFirst(from).prefix(120)) | \(right.dropFirst(from).prefix(120))"
  }

  @Test("Generated operations give valid documents", arguments: seeds)
  func sendsValidDocuments(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let generated = GeneratedSchema(&random)
    let schema = try Schema.build(
      [Parser.parse(Source(body: generated.sdl))], tolerating: [.knownDirectives])
    for operation in try Self.registry(seed).operations {
      let document = try Parser.parse(Source(body: operation.document))
      let faults = Validator.validate(document, against: schema)
      #expect(faults.isEmpty, "seed \(seed)\n\(faults)\n\(operation.document)")
    }
  }

  @Test("Stored responses are rendered byte for byte", arguments: seeds)
  func rendersStoredResponses(seed: UInt64) throws {
    let registry = try Self.registry(seed)
    var store = TinyStore()
    var world = GeneratedWorld(seed: seed, isSpaced: seed.isMultiple(of: 5))
    var bodies: [String: String] = [:]
    for operation in registry.operations {
      let variables = try Self.variables(operation, seed)
      let selection = operation.selection(for: variables)
      let answer = try Answers.answer(world.answer(selection))
      bodies[operation.name] = Answers.text(
        UpstreamResponseRenderer.render(answer, selection: selection))
      store.apply(Answers.normalise(answer, operation, variables).answer)
    }
    // All of them, after all were stored: no response may affect another.
    for operation in registry.operations {
      let rendered = try store.render(operation, try Self.variables(operation, seed))
      #expect(rendered.misses == [], "seed \(seed) \(operation.name)")
      let body = try #require(bodies[operation.name])
      let difference = Self.difference(Answers.text(rendered.body), body)
      #expect(difference == nil, "seed \(seed)\n\(operation.document)")
    }
  }

  @Test("Failed fields are omitted, and a later full response replaces them", arguments: seeds)
  func failedFieldsAreOmitted(seed: UInt64) throws {
    let registry = try Self.registry(seed)
    for operation in registry.operations {
      let variables = try Self.variables(operation, seed)
      let selection = operation.selection(for: variables)
      var world = GeneratedWorld(seed: seed, errorOneIn: 12)
      let answer = try Answers.answer(world.answer(selection))
      guard answer.data != nil else { continue }
      var store = TinyStore()
      store.apply(Answers.normalise(answer, operation, variables).answer)
      let first = try store.render(operation, variables, onError: .partial)
      if first.misses.isEmpty {
        let body = UpstreamResponseRenderer.render(answer, selection: selection)
        let difference = Self.difference(Answers.text(first.body), Answers.text(body))
        #expect(difference == nil, "seed \(seed)\n\(operation.document)")
      }
      // Once the same world responds in full, no trace of the failure is left.
      var healed = GeneratedWorld(seed: seed)
      let whole = try Answers.answer(healed.answer(selection))
      store.apply(Answers.normalise(whole, operation, variables).answer)
      let rendered = try store.render(operation, variables)
      #expect(rendered.misses == [], "seed \(seed) \(operation.name)")
      let body = UpstreamResponseRenderer.render(whole, selection: selection)
      let difference = Self.difference(Answers.text(rendered.body), Answers.text(body))
      #expect(difference == nil, "seed \(seed)\n\(operation.document)")
    }
  }
}
