import HTTPServer
import Testing

struct RoutePatternTests {
  @Test(arguments: ["/", "/films/{id}", "/files/{path...}", "/v1/a.b/{x}/c"])
  func readsPatterns(text: String) {
    #expect(RoutePattern(text)?.description == text)
  }

  @Test(arguments: ["", "films", "/{}", "/{a", "/a}", "/{a}/{a}", "/{a...}/b", "/x{a}"])
  func refusesWhatIsNoPattern(text: String) {
    #expect(RoutePattern(text) == nil)
  }
}
