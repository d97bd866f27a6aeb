/// Why something was refused. Whatever failed has changed nothing.
public struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, stable and meant for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload
        case malformedJSON, invalidUTF8, nestingTooDeep, recordExpected, keyPathNotFound, valueDoesNotFit
        case primaryKeyMissing, keyTaken
        // Model
        case invalidModel, unreadableModel, unknownEntity, abstractEntity, keylessEntity
        case unknownAttribute, unknownRelationship, ambiguousRelationship
        // Call
        case invalidPredicate, invalidOption, parentNotFound, rowNotFound
        // Store
        case deletionDenied, deletionGuard, modelMismatch, unreadableStore, storeFailure
        // Files
        case unreadableFile
    }

    /// One of several problems, with its place.
    public struct Problem: Sendable, Hashable {
        /// Where it is: a JSON path (`entities.User.attributes.age.type`) or an XML element.
        public var path: String
        public var message: String

        public init(path: String, message: String) {
            self.path = path
            self.message = message
        }
    }

    public var code: Code
    /// What is wrong and what was expected, in a sentence without the place.
    public var message: String
    public var entity: String?
    /// The place in the payload, as a JSON path (`[3].notes[0].id`), or in a model or predicate.
    public var path: String?
    /// Line and column (in bytes), from 1, of malformed JSON or of a predicate.
    public var line: Int?
    public var column: Int?
    /// Every problem found, where more than one can be reported at once.
    public var problems: [Problem]
    /// What the layer below said.
    public var underlying: String?

    public init(
        _ code: Code, _ message: String, entity: String? = nil, path: String? = nil, line: Int? = nil,
        column: Int? = nil, problems: [Problem] = [], underlying: String? = nil
    ) {
        self.code = code
        self.message = message
        self.entity = entity
        self.path = path
        self.line = line
        self.column = column
        self.problems = problems
        self.underlying = underlying
    }

    public var description: String {
        var text = message
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        if !place.isEmpty { text += " (\(place.joined(separator: ", ")))" }
        if let underlying { text += ": \(underlying)" }
        for problem in problems { text += "\n  \(problem.path): \(problem.message)" }
        return text
    }
}
