import Model
import Testing

@testable import Upstream

/// Stored texts damaged by a disk: rendering them ends and stays within bounds.
struct DamagedTextTests {
  private static let text = """
    query A {
      film(id: 9) { year director { name } poster { url width } tags
        related { ... on Film { year } ... on Stats { films } } }
    }
    """
  private static let root = #"{"film({\"id\":\"9\"})":{"$ref":["Film","9"]}}"#
  private static let film = #"""
    {"id":"9","year":1,"director":{"$ref":["Person","p\"q"]},"poster({\"size\":\"SMALL\"})":{"__typename":"Poster","url":"u","width":5},"tags":["a","b"],"related":[{"$ref":["Film","9"]},{"__typename":"Stats","films":3}]}
    """#
  private static let person = #"{"id":"p\"q","name":"n"}"#

  private let operation: RegisteredOperation

  init() throws {
    operation = try Samples.operation(Self.text)
  }

  private func render(root: [UInt8], film: [UInt8], person: [UInt8]) -> [UInt8] {
    let result = ResultSnapshot(
      key: ResultKey(operation: "A", variables: "{}", scope: .public), call: .none,
      received: Timestamp(milliseconds: 0), root: root, errors: nil, isDue: false,
      entities: [
        EntityKey(type: "Film", key: "9"): EntityRecord(layers: [film]),
        EntityKey(type: "Person", key: "p\"q"): EntityRecord(layers: [person]),
      ],
      revision: .zero)
    return ResultRenderer.render(
      result, selection: operation.selection(for: .none), onError: .fill
    ).body
  }

  /// Every prefix of a text, and the text with each byte replaced by significant ones.
  private static func damaged(_ text: String) -> [[UInt8]] {
    let bytes = Array(text.utf8)
    var texts = (0..<bytes.count).map { Array(bytes[..<$0]) }
    for place in bytes.indices {
      for mark in #"{]",\"#.utf8 where bytes[place] != mark {
        var text = bytes
        text[place] = mark
        texts.append(text)
      }
    }
    return texts
  }

  @Test("Undamaged text is rendered")
  func undamagedTextIsRendered() {
    let body = render(
      root: Array(Self.root.utf8), film: Array(Self.film.utf8), person: Array(Self.person.utf8))
    #expect(
      Answers.text(body)
        == #"{"data":{"film":{"year":1,"director":{"name":"n"},"poster":{"url":"u","width":5},"tags":["a","b"],"related":[{"year":1},{"films":3}]}}}"#
    )
  }

  @Test("Rendering damaged text ends, with bounded output")
  func damagedTextTerminates() {
    let (root, film, person) = (
      Array(Self.root.utf8), Array(Self.film.utf8), Array(Self.person.utf8)
    )
    for text in Self.damaged(Self.root) {
      #expect(render(root: text, film: film, person: person).count < 4000)
    }
    for text in Self.damaged(Self.film) {
      #expect(render(root: root, film: text, person: person).count < 4000)
    }
    for text in Self.damaged(Self.person) {
      #expect(render(root: root, film: film, person: text).count < 4000)
    }
  }
}
