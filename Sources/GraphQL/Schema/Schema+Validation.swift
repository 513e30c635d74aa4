extension Schema {
  /// Everything that makes the type system unsound (specification section 3), in the order of the
  /// types. Empty means documents can be validated and executed against it.
  package func validate() -> [Fault] {
    var validator = SchemaValidator(schema: self)
    return validator.validate()
  }
}
