import GraphQL
import Testing

struct SourceTests {
  @Test(
    "Positions count lines and Unicode scalars",
    arguments: [
      ("", 0, 1, 1), ("ab\ncd", 3, 2, 1), ("ab\ncd", 5, 2, 3), ("a\r\nb", 3, 2, 1),
      ("a\rb", 2, 2, 1), ("a\r\nb", 2, 1, 3), ("é€x", 5, 1, 3), ("\n\n\n", 3, 4, 1),
    ])
  func countsLinesAndScalars(body: String, offset: Int, line: Int, column: Int) {
    #expect(Source(body: body).position(at: offset) == SourcePosition(line: line, column: column))
  }

  @Test("The caret is under its column")
  func placesTheCaret() {
    let source = Source(body: "{\n\té film(\n}")
    #expect(source.excerpt(at: 10) == "2 | \té film(\n  | \t      ^")
  }

  @Test("A long line is cut around the caret")
  func cutsLongLines() {
    let source = Source(body: String(repeating: "a", count: 5000) + "!")
    let lines = source.excerpt(at: 5000).split(separator: "\n")
    #expect(lines[0].utf8.count < 200)
    #expect(lines[0].last == "!")
    #expect(lines[0].utf8.count == lines[1].utf8.count)
  }
}
