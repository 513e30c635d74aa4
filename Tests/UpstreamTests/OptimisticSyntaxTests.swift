import LosslessJSON
import TestSupport
import Testing

@testable import Upstream

struct OptimisticSyntaxTests {
  @Test("A change has an action, an entity and fields")
  func readsAChange() throws {
    let text = #"""
      merge Film:$input.id {
        title: $input.title, year: 1999, score: -0.10, tags: ["a", "b\"c", $tag]
        genre: DRAMA, isNew: true, poster: {url: "x", size: null},
      }
      """#
    let syntax = try OptimisticSyntax(parsing: text)
    #expect(syntax.action == .merge && syntax.type == "Film" && syntax.path == ["input", "id"])
    #expect(syntax.variables == [["input", "title"], ["tag"]])
    let expected: [(String, OptimisticRule.Value)] = [
      ("title", .variable(["input", "title"])), ("year", .constant(1999)),
      ("score", .constant(.number(JSONNumber(digits: "-0.10") ?? 0))),
      (
        "tags",
        .list([.constant("a"), .constant("b\"c"), .variable(["tag"])])
      ),
      ("genre", .constant("DRAMA")), ("isNew", .constant(true)),
      (
        "poster",
        .object([
          .init(name: "url", value: .constant("x")), .init(name: "size", value: .constant(.null)),
        ])
      ),
    ]
    #expect(syntax.fields == expected.map { OptimisticRule.Member(name: $0.0, value: $0.1) })
  }

  @Test("A deletion has no fields, a creation needs no id")
  func readsDeletionsAndCreations() throws {
    let deletion = try OptimisticSyntax(parsing: "delete Film:$id")
    #expect(deletion.action == .delete && deletion.path == ["id"] && deletion.fields.isEmpty)
    let creation = try OptimisticSyntax(parsing: "create Film {title: $title}")
    #expect(creation.action == .create && creation.path == nil && creation.fields.count == 1)
  }

  @Test(
    "Faults are named",
    arguments: [
      ("", "must begin with"), ("merge", "must name a type"),
      ("merge Film", "must name the entity"),
      ("merge Film:id {a: 1}", "must name the entity"), ("merge Film:$ {a: 1}", "must name"),
      ("merge Film:$id. {a: 1}", "must name"), ("merge Film:$id", "must have fields"),
      ("merge Film:$id {a: 1", "must have \"name: value\""), ("merge Film:$id {a 1}", "must have"),
      ("merge Film:$id {a: }", "must have a value"),
      ("merge Film:$id {a: \"b}", "must have a value"),
      ("merge Film:$id {a: 1.}", "must have a value"), ("merge Film:$id {a: 1} x", "after its end"),
      ("merge Film:$id {a: 1, a: 2}", "names a twice"), ("delete Film:$id {a: 1}", "to delete"),
      ("merge Film:$id {a: $}", "without a name"), ("merge Film:$id {a: [1}", "must have a value"),
      (
        "merge Film:$id {a: \(String(repeating: "[", count: 500))}", "is nested more than"
      ),
    ])
  func namesFaults(text: String, word: String) {
    #expect {
      _ = try OptimisticSyntax(parsing: text)
    } throws: { error in
      (error as? OptimisticSyntax.Fault)?.message.contains(word) == true
    }
  }

  /// Cuts and repeats parts of a valid text: whatever comes out is read or refused.
  @Test("Damaged texts end", arguments: [1, 2, 3] as [UInt64])
  func damagedTextsEnd(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Array(#"merge Film:$input.id {a: [1, {b: "c\"", d: $e.f}], g: null}"#)
    var read = 0
    for _ in 0..<3_000 {
      var damaged = text
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        let start = Int.random(in: 0..<damaged.count, using: &random)
        let end = min(damaged.count, start + Int.random(in: 1..<6, using: &random))
        if Bool.random(using: &random), damaged.count > 10 {
          damaged.removeSubrange(start..<end)
        } else {
          damaged.insert(contentsOf: damaged[start..<end], at: start)
        }
      }
      if (try? OptimisticSyntax(parsing: String(damaged))) != nil { read += 1 }
    }
    #expect(read > 0, "seed \(seed)")
  }
}
