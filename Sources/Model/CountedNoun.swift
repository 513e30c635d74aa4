extension Int {
  /// The number with a regular noun in the right form: `1 fault`, `2 faults`.
  package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}
