import Synchronization

/// One page of changes as JSON, shared by all who stand at the same place of the same log.
package final class RenderedChanges: Sendable {
  package struct Element: Sendable {
    /// `{"op":…}`.
    package let json: [UInt8]
    /// The cursor behind the commit that this element is the last of; nil for others.
    package let cursor: String?
  }

  package let elements: [Element]
  /// The cursor behind the page.
  package let cursor: String
  package let next: ChangePlace
  /// Nothing lay behind the page when it was read.
  package let isComplete: Bool
  private let frames = Mutex<[UInt8]?>(nil)

  init(elements: [Element], cursor: String, next: ChangePlace, isComplete: Bool) {
    self.elements = elements
    self.cursor = cursor
    self.next = next
    self.isComplete = isComplete
  }

  /// The page as server-sent events; made by the first who asks.
  package var eventFrames: [UInt8] {
    frames.withLock { frames in
      if let frames { return frames }
      var made: [UInt8] = []
      for element in elements {
        EventFrame.append(id: element.cursor, event: "change", data: element.json, to: &made)
      }
      frames = made
      return made
    }
  }
}
