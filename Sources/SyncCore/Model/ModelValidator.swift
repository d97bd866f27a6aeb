/// Checks entities together. Every problem is reported at once, with its path.
///
/// What is only found by reading further, such as an inverse of an entity that is itself declared twice, is left out:
/// it would go away with its cause.
struct ModelValidator {
    private(set) var entities: [SyncModel.Entity]
    private var problems: [SyncError.Problem]
    private let unreadable: Set<String>
    private var lineages: [String: [SyncModel.Entity]] = [:]
    /// Entity name → position; of entities of one name the first.
    private let places: [String: Int]
    /// By entity: relationship name → position.
    private let relationshipPlaces: [[String: Int]]
    /// So many levels of inheritance are no model; each entity has what all of its ancestors have.
    private static let maximumDepth = 100

    /// The entities in name order, inverses completed, defaults in their stored form.
    ///
    /// - Throws: ``SyncError`` `invalidModel` with all problems, those of the source first.
    static func validated(_ draft: ModelDraft) throws -> [SyncModel.Entity] {
        var validator = ModelValidator(draft)
        validator.checkNames()
        validator.checkParents()
        validator.checkInheritedNames()
        validator.checkAttributes()
        validator.checkKeys()
        validator.checkRelationships()
        validator.checkKeyRules(draft.rules)
        validator.checkShapes()
        validator.checkTableNames()
        guard validator.problems.isEmpty else { throw error(validator.problems) }
        return validator.entities
    }

    static func error(_ problems: [SyncError.Problem]) -> SyncError {
        let count = problems.count == 1 ? "a problem" : "\(problems.count) problems"
        return SyncError(.invalidModel, "the model has \(count)", problems: problems)
    }

    private init(_ draft: ModelDraft) {
        entities = draft.entities.sorted { $0.name < $1.name }
        problems = draft.problems
        unreadable = draft.unreadable
        places = Self.places(entities, name: \.name)
        relationshipPlaces = entities.map { Self.places($0.relationships, name: \.name) }
    }

    private static func places<Member>(_ members: [Member], name: (Member) -> String) -> [String: Int] {
        Dictionary(members.enumerated().map { (name($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func note(_ path: ModelPath, _ message: String) {
        problems.append(SyncError.Problem(path: path.text, message: message))
    }

    mutating func setDefault(_ value: StoredValue?, _ entity: Int, _ attribute: Int) {
        entities[entity].attributes[attribute].defaultValue = value
    }

    mutating func setInverse(_ name: String, _ entity: Int, _ relationship: Int) {
        entities[entity].relationships[relationship].inverse = name
    }

    func isReadable(_ entity: String, _ member: String? = nil) -> Bool {
        !unreadable.contains(member.map { "\(entity).\($0)" } ?? entity)
    }

    func entity(named name: String) -> SyncModel.Entity? { places[name].map { entities[$0] } }

    /// A relationship that an entity itself declares.
    func relationship(_ name: String, of entity: String) -> SyncModel.Relationship? {
        guard let place = places[entity], let position = relationshipPlaces[place][name] else { return nil }
        return entities[place].relationships[position]
    }

    // MARK: Lineage

    /// The entity and its ancestors, the nearest first; ends where a name is unknown or comes up again.
    func lineage(of name: String) -> [SyncModel.Entity] { lineages[name] ?? [] }

    /// Whether a lineage without this member is all there, so that the member can be said to be missing.
    func isMissing(_ member: String, in line: [SyncModel.Entity]) -> Bool {
        guard let root = line.last, root.parent == nil else { return false }
        return line.allSatisfy { isReadable($0.name) && isReadable($0.name, member) }
    }

    /// Whether rows of `name` count as rows of `ancestor`.
    func entity(_ name: String, isKindOf ancestor: String) -> Bool {
        lineage(of: name).contains { $0.name == ancestor }
    }

    private mutating func checkParents() {
        for entity in entities {
            var line = [entity]
            while let parent = line[line.count - 1].parent {
                guard line.count <= Self.maximumDepth else {
                    note(.entity(entity.name)["parent"], "inherits through more than \(Self.maximumDepth) entities")
                    break
                }
                guard let next = self.entity(named: parent) else {
                    if line.count == 1 { note(.entity(entity.name)["parent"], unknown(parent)) }
                    break
                }
                guard !line.contains(where: { $0.name == next.name }) else {
                    let circle = ShortList(line.map(\.name) + [next.name]).text(between: " → ")
                    if next.name == entity.name { note(.entity(entity.name)["parent"], "goes in a circle: \(circle)") }
                    break
                }
                line.append(next)
            }
            lineages[entity.name] = line
        }
    }

    func unknown(_ entity: String) -> String {
        "unknown entity '\(entity)'; the model has \(ShortList(entities.lazy.map(\.name)).text)"
    }
}
