import HTTPTypes

extension HTTPField.Name {
  /// Nil only if the text were no field name, which it is.
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")
  static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")
}
