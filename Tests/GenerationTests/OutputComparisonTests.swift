import Testing

@testable import Generation

struct OutputComparisonTests {
  private static let header = GeneratedFile.header(of: .swift)

  private static func file(_ name: String, _ text: String = "a") -> GeneratedFile {
    GeneratedFile(name: name, text: "\(header)\n\(text)\n")
  }

  @Test("Stale, missing, surplus and foreign files are told apart")
  func filesAreToldApart() {
    let files = [
      Self.file("A.swift"), Self.file("B.swift"), Self.file("C.swift"), Self.file("D.swift"),
      Self.file("E.swift"),
    ]
    let comparison = OutputComparison(
      files,
      existing: [
        "A.swift": files[0].text, "B.swift": "\(Self.header)\nolder\n", "D.swift": "// By hand.\n",
        "E.swift": nil, "F.swift": "\(Self.header)\n", "G.swift": "// By hand.\n",
        "H.swift": "\(GeneratedFile.header(of: .kotlin))\n",
      ], language: .swift)
    #expect(comparison.stale == ["B.swift"])
    #expect(comparison.missing == ["C.swift"])
    #expect(comparison.surplus == ["F.swift"])
    #expect(comparison.foreign == ["D.swift", "E.swift"])
    #expect(comparison.unwritten == [files[1], files[2]])
    #expect(!comparison.isCurrent)
    #expect(
      comparison.lines == [
        "stale: B.swift", "missing: C.swift", "surplus: F.swift", "not generated: D.swift",
        "not generated: E.swift",
      ])
  }

  @Test("A folder with the same files is current, also with files of others")
  func sameFilesAreCurrent() {
    let comparison = OutputComparison(
      [Self.file("A.swift")],
      existing: ["A.swift": Self.file("A.swift").text, "Mine.swift": "import Larder\n"],
      language: .swift)
    #expect(comparison.isCurrent)
    #expect(comparison.unwritten.isEmpty)
  }
}
