import TestSupport
import Testing

@testable import Filtering

struct InclusionTests {
  private static func text(_ inclusions: [Inclusion]) -> String {
    inclusions.map { inclusion in
      let arguments = [
        inclusion.limit.map { "limit=\($0)" }, inclusion.order.map { "order=\($0)" },
      ].compactMap { $0 }
      let inner = inclusion.inner.isEmpty ? "" : "{\(text(inclusion.inner))}"
      return inclusion.name + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ";")))")
        + inner
    }.joined(separator: " ")
  }

  private static func faults(_ text: String) -> [String] {
    do throws(InclusionFaults) {
      _ = try Inclusion.read(text)
      return []
    } catch {
      return error.messages
    }
  }

  @Test(
    "Paths are read as a tree of relationships",
    arguments: [
      ("director", "director"),
      ("director,cast(limit: 3, order: name)", "director cast(limit=3;order=name)"),
      (" cast ( order : -year , title , limit:2 ) ", "cast(limit=2;order=-year,title)"),
      ("cast.films", "cast{films}"),
      ("cast(limit:3).films(limit:1),cast.best", "cast(limit=3){films(limit=1) best}"),
      ("cast.films,cast(limit: 3)", "cast(limit=3){films}"),
      ("cast . films , director", "cast{films} director"),
    ])
  func readsPaths(text: String, tree: String) throws {
    #expect(Self.text(try Inclusion.read(text)) == tree)
  }

  @Test(
    "Each faulty path is reported",
    arguments: [
      ("", ["position 1: the name"]),
      ("director,,cast", ["position 10: the name"]),
      ("1st,cast(", ["position 1: the name", "position 10: a ) is missing"]),
      ("cast)", ["position 5: a comma"]),
      ("cast()", ["must have the form"]),
      ("cast(3)", ["must have the form"]),
      ("cast(limit: 0)", ["from 1 to 100"]),
      ("cast(limit: 101),films(limit: x)", ["limit of cast", "limit of films"]),
      ("cast(limit: 1, limit: 2)", ["given twice"]),
      ("cast(offset: 1, order: a, filter: b)", ["no argument offset", "no argument filter"]),
      ("cast,cast", ["cast is named twice"]),
      ("cast(limit: 1).films,cast(limit: 2).best", ["arguments of cast are given twice"]),
      ("cast.films,cast.films", ["films is named twice"]),
      ("a.b.c", ["a.b.c has more than 2 levels"]),
      ("cästchen", ["position 2: a comma"]),
    ])
  func reportsFaults(text: String, words: [String]) {
    let faults = Self.faults(text)
    #expect(faults.count == words.count, "\(faults)")
    for (fault, words) in zip(faults, words) { #expect(fault.contains(words), "\(faults)") }
  }

  @Test("Length and number of paths are bounded")
  func boundsTheText() throws {
    let many = (0..<Inclusion.pathsMax).map { "r\($0)" }.joined(separator: ",")
    #expect(try Inclusion.read(many).count == Inclusion.pathsMax)
    #expect(Self.faults(many + ",one").first?.contains("more than 32 paths") == true)
    let long = String(repeating: "a", count: Inclusion.charactersMax + 1)
    #expect(Self.faults(long).first?.contains("more than 2048 characters") == true)
  }

  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  @Test("Any text is read or refused", arguments: [3, 5, 8] as [UInt64])
  func anyTextIsReadOrRefused(seed: UInt64) throws {
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let pieces = ["cast", "films", "(", ")", ",", ".", ":", "limit", "order", "3", "-", " ", "é"]
    var read = 0
    for _ in 0..<3_000 {
      let text = (0..<chance.number(1...9)).map { _ in pieces[chance.number(0...12)] }.joined()
      do throws(InclusionFaults) {
        let inclusions = try Inclusion.read(text)
        read += 1
        #expect(inclusions.allSatisfy { !$0.name.isEmpty }, "seed \(seed): \(text)")
      } catch {
        #expect(!error.messages.isEmpty, "seed \(seed): \(text)")
      }
    }
    #expect(read > 0, "seed \(seed)")
  }
}
