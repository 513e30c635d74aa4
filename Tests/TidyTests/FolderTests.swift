import Testing

/// The direction of the folders within a module: a folder is read after those that it refers to, and
/// folders in a circle can only be read together.
struct FolderTests {
  /// The maximum number of folders in one circle.
  static let circleMax = 3

  static let trees =
    Set(SourceTree.sources.map { "Sources/\($0.module)/" }).sorted()
    + ["Sources/Composition/Settings/"]

  private static func files(in tree: String) -> [(path: String, text: String)] {
    SourceTree.sources.filter { $0.path.hasPrefix(tree) }.map {
      (String($0.path.dropFirst(tree.count)), $0.lines.joined(separator: "\n"))
    }
  }

  @Test("At most a few folders of a module refer to each other in a circle", arguments: trees)
  func foldersHaveADirection(tree: String) {
    let circles = FolderCircles(Self.files(in: tree))
    let largest = circles.largest
    #expect(
      largest.count <= Self.circleMax,
      """
      \(largest.count) folders of \(tree) refer to each other in a circle: \
      \(largest.joined(separator: ", ")). Move a type to the folder where it belongs. The ties, the \
      thinnest first:
      \(circles.ties(within: largest).joined(separator: "\n"))
      """)
  }

  @Test("The folders of the largest modules are found")
  func foldersAreFound() {
    #expect(FolderCircles(Self.files(in: "Sources/Gateway/")).folders.contains("Reading"))
    #expect(FolderCircles(Self.files(in: "Sources/Storage/")).folders.count > 10)
  }

  @Test("A circle of folders is found with its ties, the thinnest first")
  func circleIsFound() {
    let circles = FolderCircles([
      ("Kitchen/Cook.swift", "struct Cook { let plate: Plate; let oven: Oven }"),
      ("Kitchen/Oven.swift", "package final class Oven {}"),
      ("Hall/Waiter.swift", "struct Waiter { let guest: Guest }\n\nstruct Tray {}"),
      ("Hall/Guest.swift", "enum Guest { case hungry(Plate), full(Spoon) }"),
      ("Table/Plate.swift", "actor Plate { func call() -> Waiter? { nil } }"),
      ("Table/Spoon.swift", "protocol Spoon {}\ntypealias Fork = Spoon"),
      ("Cellar/Bottle.swift", "struct Bottle { let waiter: Waiter }"),
      ("Top.swift", "struct Top { let cook: Cook; let bottle: Bottle }"),
    ])
    #expect(circles.folders == ["Cellar", "Hall", "Kitchen", "Table"])
    #expect(circles.largest == ["Hall", "Table"])
    #expect(
      circles.ties(within: circles.largest) == [
        "Table names Waiter in Plate.swift of Hall",
        "Hall names Plate in Guest.swift, Spoon in Guest.swift of Table",
      ])
  }

  @Test("A circle that passes through several folders is found")
  func longCircleIsFound() {
    let names = ["A", "B", "C", "D"]
    let files = names.indices.map { index in
      let next = names[(index + 1) % names.count]
      return (
        "\(names[index])/\(names[index])Type.swift",
        "struct \(names[index])Type { var next: \(next)Type? }"
      )
    }
    #expect(FolderCircles(files).largest == names)
    #expect(FolderCircles(files.dropLast()).largest.isEmpty)
  }

  @Test("Comments, strings, members and a file's own types are no references")
  func onlyCodeRefers() {
    let references = TypeReferences(
      ##"""
      /// Names Plate.
      /* Plate /* Plate */ Plate */
      private struct Hidden { struct Inner {} }
      struct Shown<Element> {
        let a = "Plate \(call("Plate { \" ")) Plate"
        let b = #"Plate " \( Plate"#
        let inner = Hidden.Inner(), other = Lid.Plate.self
        func hold(_ pot: Pot) {}
      }
      private let constant = 1
      indirect enum Second {}
      """##)
    #expect(references.declared == ["Shown", "Second"])
    #expect(references.named == ["Element", "Lid", "Pot"])
  }
}
