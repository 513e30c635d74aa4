import GraphQL
import LosslessJSON

/// Variables from outside: any JSON is coerced or refused, and what was coerced stays as it is when
/// it is coerced once more.
enum GraphQLVariablesTarget {
  private static let definitions: [VariableDefinition] = {
    let text = """
      query ($i: Int = 3, $f: Float, $s: String!, $b: [Boolean!], $d: [[ID]], $m: Mood = CALM,
        $p: PetInput, $l: [PetInput!]! = []) { __typename }
      """
    let document = try? Parser.parse(Source(body: text))
    return document?.operations.first?.variableDefinitions ?? []
  }()

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let given = try? JSONValue(parsing: Array(input)) else { return }
    let coercer = InputCoercer(schema: BeastSchema.schema)
    guard let once = try? coercer.variables(given, for: definitions) else { return }
    do {
      let twice = try coercer.variables(.object(once), for: definitions)
      Finding.require(twice == once, "coercing changes what was coerced: \(once) \(twice)")
    } catch {
      Finding.require(false, "what was coerced is refused: \(once) \(error)")
    }
  }
}
