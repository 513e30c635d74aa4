import Foundation
import Testing

/// Plain English: words that readers stumble over, and what the field says instead.
struct PlainEnglishTests {
  /// A regular expression and the better term.
  static let avoided: [(pattern: String, better: String)] = [
    (#"\bwhoever\b"#, "the caller; callers that …"),
    (#"\b(nobody|somebody|anybody)\b"#, "no caller; another caller; a client"),
    (#"\banew\b"#, "again"),
    (#"\btold of\b"#, "reported; notified"),
    (#"\bsigns? of life\b"#, "heartbeat"),
    (#"\bshel(f|ves|ved|ve|ving)\b"#, "response cache; cached"),
    (#"\bhand(ed|s|ing)? over\b"#, "enqueue; submit; pass on"),
    (#"\b(lay|lays|laid|lies) over\b"#, "overlay; optimistic update"),
    (#"\bcome to be\b"#, "is made; begins"),
    (#"\bgoneness\b"#, "tombstone"),
  ]

  /// The places with an avoided word, each with its file, its line and the better term.
  static func findings(in lines: [String], of path: String) -> [String] {
    var findings: [String] = []
    for (index, line) in lines.enumerated() {
      for (pattern, better) in avoided {
        let options: String.CompareOptions = [.regularExpression, .caseInsensitive]
        guard let range = line.range(of: pattern, options: options) else { continue }
        findings.append("\(path):\(index + 1): \"\(line[range])\", better: \(better)")
      }
    }
    return findings
  }

  @Test("Sources, clients, pages, tests and documents use plain English")
  func wordsAreTheFields() {
    // The demo's films have plots, in which nobody speaks like a standard.
    #expect(SourceTree.clients.count > 40)
    #expect(SourceTree.pages.count > 30)
    let files = (SourceTree.sources + SourceTree.clients + SourceTree.pages + SourceTree.documents)
      .filter { !$0.path.hasSuffix("Generator/Prose.swift") }
    #expect(files.count > 300)
    var findings = files.flatMap { Self.findings(in: $0.lines, of: $0.path) }
    for file in SourceTree.tests where !file.path.hasSuffix("PlainEnglishTests.swift") {
      findings += Self.findings(in: file.lines.map(Self.prose), of: file.path)
    }
    #expect(findings.isEmpty, "\(findings.joined(separator: "\n"))")
  }

  /// What a line of a test says to its reader: a comment or a display name. The rest is made-up data.
  private static func prose(_ line: String) -> String {
    if line.contains("@Test(") { return line }
    guard let comment = line.range(of: "// ") ?? line.range(of: "/// ") else { return "" }
    return String(line[comment.upperBound...])
  }

  @Test("An avoided word is found in any case, and only as a word")
  func findsAvoidedWords() {
    let lines = ["Whoever comes", "a shelf", "bookshelfs", "handed over", "handover"]
    #expect(
      Self.findings(in: lines, of: "a.swift").map { String($0.prefix { $0 != "," }) }
        == [#"a.swift:1: "Whoever""#, #"a.swift:2: "shelf""#, #"a.swift:4: "handed over""#])
  }
}
