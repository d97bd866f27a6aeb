extension SyncError {
    /// The suggestion how to recover, as a sentence; nil if the message already has it.
    public var recoverySuggestion: String? {
        if let likelyForm { return likelyForm.advice }
        if !keyPaths.isEmpty { return "Name the list with 'keyPath'." }
        return code.suggestion
    }
}

extension SyncError.Code {
    /// The suggestion for most errors with the code.
    fileprivate var suggestion: String? {
        switch self {
        case .malformedJSON, .invalidUTF8: "Fetch the payload again: it may have been cut short."
        case .nestingTooDeep, .recordTooLarge: "Have the service send less at once."
        case .recordExpected, .noRecords, .keyPathNotFound:
            "See whether the payload is the one that was asked for; 'keyPath', 'form' and 'keyedBy' say where records are."
        case .errorDocument: "Look at what the service said, and ask it again."
        case .typeMismatch: "Give the attribute another type or a transformer, or do without the strict sync."
        case .inconsistentRecords: "Have the service send each record once, or do without the strict sync."
        case .primaryKeyMissing: "Give the record its key, or name the key in the model."
        case .duplicateKey: "Choose another key, or update the row that has this one."
        case .entityMismatch: "Ask for the entity that the row is of."
        case .invalidModel, .unreadableModel: "Mend the model at the places that are listed."
        case .unknownEntity, .abstractEntity, .keylessEntity, .unknownAttribute, .unknownRelationship,
            .ambiguousRelationship, .invalidPredicate, .invalidOption:
            "Mend the call."
        case .missingTransformer: "Register the transformer with the model: 'model.registering(…)'."
        case .parentNotFound: "Sync or insert the parent first."
        case .rowNotFound: "Insert the row first."
        case .deletionDenied: "Delete the rows that refer to it first, or change their delete rule."
        case .deletionLimitExceeded: "If the payload is right, raise the guard for this sync."
        case .modelMismatch: "Open the store with 'migration: .automatic', or with the model it keeps."
        case .nameCollision: "Rename the app's table or the entity."
        case .incompatibleTables: "Run the SQL that is listed with each problem, or change the model."
        case .incompatibleConnection: "Add the line to the configuration of the database."
        case .cannotOpenStore: "See whether the file is a database of Sync's, and whole."
        case .storeClosed: "Open another stack, or close this one later."
        case .databaseError: "What SQLite said is in 'underlying'."
        case .databaseBusy: "Try again once the other process is done."
        case .databaseReadOnly: "Give this user the right to write the file and its folder."
        case .serviceMismatch, .userMismatch:
            "Use a database for each service and user, or remove the engine of the other one."
        case .engineBusy: "Try again once the other run is done."
        case .serviceFailure: "Try again later."
        case .unauthorized: "Give new credentials."
        case .serverRestored: "Decide whether the server's copy or this one holds: 'reset' with '.local' or '.relink'."
        case .invalidConfiguration: "Mend the configuration at that place."
        case .unreadableFile: "See whether the file is there, and may be read."
        }
    }
}

// MARK: - File

extension SyncError {
    /// Returns the error with the file added to its message, unless the message already has it.
    package func naming(_ file: String) -> SyncError {
        guard !message.contains(file) else { return self }
        var named = self
        named.message = "\(file): \(message)"
        return named
    }
}

// MARK: - DetectedFormat

/// The detected format of a payload that cannot be read with the given options, and the option that reads it.
public enum DetectedFormat: Sendable, Hashable {
    /// One record on each line: ``PayloadFormat/ndjson``.
    case ndjson
    /// A JSON:API document: ``PayloadFormat/jsonAPI``.
    case jsonAPI
    /// A GraphQL response: ``PayloadFormat/graphQL``.
    case graphQL
    /// An object whose members are the records: ``SyncOptions/keyedBy``. `namesFitKey` is whether the member names fit
    /// the primary key; nil without a model.
    case keyed(namesFitKey: Bool?)
    /// Lists of several entities: the entity of each key.
    case entities([String: String])
    /// Text with columns separated by commas, semicolons or tabs. It is not read: convert it to JSON.
    case csv
    /// A web page, such as a login page, instead of the payload.
    case html
    /// XML. It is not read.
    case xml
    /// YAML. It is not read.
    case yaml

    /// The name of the format, as part of a sentence.
    package var name: String {
        switch self {
        case .ndjson: "JSON on each line by itself"
        case .jsonAPI: "a JSON:API document"
        case .graphQL: "the answer of a GraphQL service"
        case .keyed: "an object whose members are records"
        case .entities: "an object with lists of several entities"
        case .csv: "CSV, not JSON"
        case .html: "HTML, not JSON: a web page, perhaps one for logging in"
        case .xml: "XML, not JSON"
        case .yaml: "YAML, not JSON"
        }
    }

    /// The Swift code of the option that reads the format; nil if the format is not supported.
    private var option: String? {
        switch self {
        case .ndjson: "options.format = .ndjson"
        case .jsonAPI: "options.format = .jsonAPI"
        case .graphQL: "options.format = .graphQL"
        case .keyed(namesFitKey: true): "options.keyedBy = .primaryKey"
        case .keyed(namesFitKey: false): "options.keyedBy = .attribute(…)"
        case .keyed(namesFitKey: nil): "options.keyedBy"
        case .entities(let entities):
            "entities: [" + entities.sorted { $0.key < $1.key }.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
                + "]"
        case .csv, .html, .xml, .yaml: nil
        }
    }

    var advice: String { "it looks like \(name)" + (option.map { "; \($0) reads that" } ?? "") }
}
