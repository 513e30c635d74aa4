import HTTPWire
import LosslessJSON
import Model

@testable import Upstream

/// Responses of upstream: they are normalised for the store and written for clients, whatever they hold, and
/// the keys of entities do not change.
enum UpstreamResponseTarget {
  private static let context = UpstreamCallContext(
    call: CallNumber(7), horizon: CallNumber(5), received: Timestamp(milliseconds: 1000),
    scope: .public)

  /// Runs one input: the first byte selects the operation.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first,
      let document = try? JSONDocument(Array(input.dropFirst())),
      let response = UpstreamResponse(document: document)
    else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let selection = operation.selection(for: .none)
    let answer = Normaliser.normalise(
      response, of: operation, variables: .none, selection: selection, context: context
    ).answer
    for entity in answer.entities {
      for field in entity.fields {
        Finding.require(
          (try? JSONDocument(answer.bytes, range: field.range)) != nil,
          "\(entity.key).\(field.name) is stored as invalid JSON")
      }
    }
    let body = UpstreamResponseRenderer.render(response, selection: selection)
    Finding.require((try? JSONDocument(body)) != nil, "the written result is not JSON")
    guard let result = answer.result else { return }
    let rendered = ResultRenderer.render(
      snapshot(of: answer, result), selection: selection, onError: .fill)
    Finding.require((try? JSONDocument(rendered.body)) != nil, "the stored result is not JSON")
    keys(document.root)
  }

  /// The response as an empty store returns it after storing it.
  private static func snapshot(
    of answer: NormalisedResponse, _ result: ResultWrite
  ) -> ResultSnapshot {
    var records: [EntityKey: EntityRecord] = [:]
    for entity in answer.entities {
      let earlier = records[entity.key]?.layers ?? []
      records[entity.key] = EntityRecord(layers: [text(entity.fields, answer.bytes)] + earlier)
    }
    return ResultSnapshot(
      key: result.key, call: answer.call, received: answer.received,
      root: text(result.root, answer.bytes), errors: result.errors, isDue: false,
      entities: records, revision: .zero)
  }

  private static func text(_ fields: [NormalisedResponse.Field], _ bytes: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for field in fields {
      writer.name(field.name)
      writer.raw(bytes[field.range])
    }
    writer.endObject()
    return writer.bytes
  }

  /// Tries every leaf as a key of every kind.
  private static func keys(_ node: JSONNode) {
    let value = JSONValue(node)
    for canonical in [KeyField.Canonical.text, .integer] {
      guard let key = EntityKeyRule.text(of: value, canonical) else { continue }
      Finding.require(
        EntityKeyRule.text(of: .string(key), canonical) == key, "a key changes: \(key)")
    }
    for element in node.elements { keys(element) }
    for member in node.members { keys(member.value) }
  }
}

/// Variables of a call as clients write them, in a query string and in a body: they are coerced or refused
/// with a fault, and coercing the result again does not change it.
enum UpstreamVariablesTarget {
  /// Runs one input: the first byte selects the operation.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let bytes = Array(input.dropFirst())
    check(operation, .body(bytes))
    if let query = try? QueryString(bytes[...]) {
      let parameters = query.parameters.map { VariableInput.Parameter($0.name, $0.value) }
      check(operation, .parameters(path: [], query: parameters))
      check(operation, .parameters(path: Array(parameters.prefix(2)), query: []))
    }
    numbers(String(decoding: bytes, as: UTF8.self))
  }

  private static func check(_ operation: RegisteredOperation, _ input: VariableInput) {
    do throws(VariableFaults) {
      let once = try operation.coerce(input)
      guard let sent = try? JSONValue(parsing: once.json) else {
        return Finding.require(false, "the sent variables are not JSON: \(once.json)")
      }
      do throws(VariableFaults) {
        let twice = try operation.coerce(.value(sent))
        Finding.require(
          twice.canonical == once.canonical,
          "one call has two canonical forms: \(once.canonical) \(twice.canonical)")
      } catch {
        Finding.require(false, "coerced variables are refused: \(once.json) \(error)")
      }
    } catch {
      Finding.require(!error.all.isEmpty, "refused without a fault")
    }
  }

  private static func numbers(_ text: String) {
    guard let number = JSONNumber(digits: text) else { return }
    let canonical = CanonicalNumber.of(number)
    Finding.require(
      CanonicalNumber.of(canonical) == canonical, "\(text) has two forms: \(canonical)")
    guard let integer = CanonicalNumber.integer(number) else { return }
    Finding.require(
      integer.digits.utf8.drop { $0 == UInt8(ascii: "-") }.allSatisfy {
        (0x30...0x39).contains($0)
      },
      "no integer: \(integer)")
  }
}

/// Texts of the store as a damaged disk could return them: rendering terminates, within their bounds.
enum StoredTextTarget {
  /// Runs one input: the first byte selects the operation; texts are separated by the byte 0xFF, which none
  /// contains.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let texts = Array(input.dropFirst())
      .split(separator: 0xFF, maxSplits: 6, omittingEmptySubsequences: false).map { Array($0) }
    var records: [EntityKey: EntityRecord] = [:]
    for (place, text) in texts.dropFirst().enumerated() {
      let type = place % 2 == 0 ? "Film" : "Person"
      let key = EntityKey(type: type, key: "\(place / 2 + 1)")
      records[key] = EntityRecord(layers: [text], isDeleted: text.isEmpty)
    }
    let result = ResultSnapshot(
      key: ResultKey(operation: operation.name, variables: "{}", scope: .public),
      call: CallNumber(1), received: Timestamp(milliseconds: 0), root: texts[0],
      errors: texts.last, isDue: false, entities: records, revision: .zero)
    for policy in [CachePolicy.ErrorPolicy.fill, .partial] {
      for showsPending in [false, true] {
        let rendered = ResultRenderer.render(
          result, selection: operation.selection(for: .none), onError: policy,
          showsPending: showsPending)
        Finding.require(rendered.body.first == UInt8(ascii: "{"), "no object")
      }
    }
  }
}
