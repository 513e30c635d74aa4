/// One thing wrong with the settings, with all a person needs to mend it and no secret.
package struct SettingsFault: Hashable, Sendable, CustomStringConvertible {
  package let place: SettingPlace
  package let message: String
  /// The source line and a line with a caret under the place; nil outside a file.
  package var excerpt: String?

  init(_ place: SettingPlace, _ message: String, excerpt: String? = nil) {
    self.place = place
    self.message = message
    self.excerpt = excerpt
  }

  package var description: String {
    let line = "\(place): \(message)"
    return excerpt.map { "\(line)\n\($0)" } ?? line
  }
}
