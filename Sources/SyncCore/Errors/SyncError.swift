public import Foundation

/// Why something was refused. Whatever failed has changed nothing.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, stable and meant for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload
        case malformedJSON, invalidUTF8, nestingTooDeep, recordTooLarge, recordExpected, keyPathNotFound
        case noRecords
        case valueDoesNotFit
        case primaryKeyMissing, keyTaken, entityMismatch
        // Model
        case invalidModel, unreadableModel, unknownEntity, abstractEntity, keylessEntity
        case unknownAttribute, unknownRelationship, ambiguousRelationship
        // Call
        case invalidPredicate, invalidOption, parentNotFound, rowNotFound
        // Store
        case deletionDenied, deletionGuard, modelMismatch, unreadableStore, storeFailure, storeBusy, storeReadOnly
        // Files
        case unreadableFile
    }

    /// One of several problems, with its place.
    public struct Problem: Sendable, Hashable, Codable {
        /// Where it is: a JSON path (`entities.User.attributes.age.type`) or an XML element.
        public var path: String
        /// What is wrong there.
        public var message: String

        /// A problem and its place.
        public init(path: String, message: String) {
            self.path = path
            self.message = message
        }
    }

    /// What kind of failure it is.
    public var code: Code
    /// What is wrong and what was expected, in a sentence without the place.
    public var message: String
    /// The entity it is about.
    public var entity: String?
    /// The place in the payload, as a JSON path (`[3].notes[0].id`), or in a model or predicate.
    public var path: String?
    /// The line, from 1, of malformed JSON, of a model or of a predicate.
    public var line: Int?
    /// The column, from 1, in bytes.
    public var column: Int?
    /// Every problem found, where more than one can be reported at once.
    public var problems: [Problem]
    /// What the layer below said.
    public var underlying: String?
    /// Where a payload without records has lists (``SyncOptions/keyPath``).
    public var keyPaths: [[String]] = []

    /// An error with whatever is known of its place.
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

    /// The message with its place, and every problem on a line of its own.
    public var description: String {
        var text = message
        if !place.isEmpty { text += " (\(place.joined(separator: ", ")))" }
        if let underlying { text += ": \(underlying)" }
        if !keyPaths.isEmpty {
            text += "; there are lists at the key path \(keyPaths.map { "\($0)" }.joined(separator: " or "))"
        }
        for problem in problems { text += "\n  \(problem.path): \(problem.message)" }
        return text
    }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }

    /// What is known of where it is, part by part.
    package var place: [String] {
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        return place
    }
}
