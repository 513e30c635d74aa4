import TestSupport
import Testing

@testable import Filtering

struct TextFoldingTests {
  @Test(
    "Case is ignored in all scripts, and nothing else",
    arguments: [
      ("ALIEN", "alien"), ("Stra\u{DF}e", "strasse"), ("STRA\u{1E9E}E", "strasse"),
      ("\u{3A3}\u{3C2}", "\u{3C3}\u{3C3}"), ("\u{212A}", "k"), ("\u{130}", "i\u{307}"),
      ("\u{131}", "\u{131}"), ("\u{C9}", "\u{E9}"), ("\u{416}", "\u{436}"),
      ("\u{FB03}", "ffi"), ("\u{17F}", "s"), ("\u{6F22}\u{5B57} 1\u{0}", "\u{6F22}\u{5B57} 1\u{0}"),
    ])
  func foldsCase(text: String, folded: String) {
    #expect(FilterValue.text(TextFolding.ignoringCase.folded(text)) == .text(folded))
  }

  @Test(
    "Diacritics are ignored, composed or not",
    arguments: [
      ("Agn\u{E8}s", "agnes"), ("Agne\u{300}s", "agnes"), ("\u{C5}\u{212B}A\u{30A}", "aaa"),
      ("\u{1ED6}", "o"), ("\u{3AC}", "\u{3B1}"), ("\u{419}", "\u{438}"), ("\u{130}", "i"),
      ("\u{F8}\u{142}", "\u{F8}\u{142}"), ("\u{301}", ""), ("\u{AC00}", "\u{AC00}"),
      ("\u{915}\u{941}", "\u{915}\u{941}"),
    ])
  func foldsMarks(text: String, folded: String) {
    #expect(FilterValue.text(TextFolding.ignoringMarks.folded(text)) == .text(folded))
  }

  @Test(
    "Folding twice changes nothing, and folding is done character by character",
    arguments: [UInt64(1), 2])
  func foldsIdempotently(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let scalars = (0..<3).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 1...0x2000, using: &random))
      }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars)
      let text = String(view)
      for folding in TextFolding.allCases {
        let once = folding.folded(text)
        let parts = scalars.map { folding.folded(String($0)) }.joined()
        #expect(FilterValue.text(folding.folded(once)) == .text(once), "seed \(seed): \(scalars)")
        #expect(FilterValue.text(parts) == .text(once), "seed \(seed): \(scalars)")
      }
    }
  }

  @Test(
    "The end of a prefix is the first text after all that begin with it",
    arguments: [
      ("ab", "ac"), ("a\u{D7FF}", "a\u{E000}"), ("a\u{10FFFF}", "b"), ("\u{10FFFF}", nil),
      ("", nil), ("\u{7F}", "\u{80}"),
    ])
  func endsPrefixes(prefix: String, end: String?) {
    let found = TextMatch.end(ofPrefix: prefix)
    #expect(found.map { FilterValue.text($0) } == end.map { FilterValue.text($0) })
  }

  @Test("The version of folding is the same each time and fits a number of JSON and SQL")
  func versions() {
    #expect(TextFolding.version == TextFolding.version)
    #expect((1...0x7FFF_FFFF).contains(TextFolding.version))
  }
}
