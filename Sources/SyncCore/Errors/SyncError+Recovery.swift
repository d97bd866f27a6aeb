extension SyncError {
    /// What to do about it, in a sentence; nil where what is wrong says that already.
    public var recoverySuggestion: String? {
        if let likelyForm { return likelyForm.advice }
        if !keyPaths.isEmpty { return "Name the list with 'keyPath'." }
        return code.suggestion
    }
}

extension SyncError.Code {
    /// What is done about most errors of the kind.
    fileprivate var suggestion: String? {
        switch self {
        case .malformedJSON, .invalidUTF8: "Fetch the payload again: it may have been cut short."
        case .nestingTooDeep, .recordTooLarge: "Have the service send less at once."
        case .recordExpected, .noRecords, .keyPathNotFound:
            "See whether the payload is the one that was asked for; 'keyPath', 'form' and 'keyedBy' say where records are."
        case .serviceErrors: "Look at what the service said, and ask it again."
        case .valueDoesNotFit: "Give the attribute another type or a transformer, or do without the strict sync."
        case .contradictingRecords: "Have the service send each record once, or do without the strict sync."
        case .primaryKeyMissing: "Give the record its key, or name the key in the model."
        case .keyTaken: "Choose another key, or update the row that has this one."
        case .entityMismatch: "Ask for the entity that the row is of."
        case .invalidModel, .unreadableModel: "Mend the model at the places that are listed."
        case .unknownEntity, .abstractEntity, .keylessEntity, .unknownAttribute, .unknownRelationship,
            .ambiguousRelationship, .invalidPredicate, .invalidOption:
            "Mend the call."
        case .missingTransformer: "Register the transformer with the model: 'model.registering(…)'."
        case .parentNotFound: "Sync or insert the parent first."
        case .rowNotFound: "Insert the row first."
        case .deletionDenied: "Delete the rows that refer to it first, or change their delete rule."
        case .deletionGuard: "If the payload is right, raise the guard for this sync."
        case .modelMismatch: "Open the store with 'migration: .automatic', or with the model it keeps."
        case .nameCollision: "Rename the app's table or the entity."
        case .unsuitableTables: "Run the SQL that is listed with each problem, or change the model."
        case .unsuitableConnection: "Add the line to the configuration of the database."
        case .unreadableStore: "See whether the file is a database of Sync's, and whole."
        case .storeClosed: "Open another stack, or close this one later."
        case .storeFailure: "What SQLite said is in 'underlying'."
        case .storeBusy: "Try again once the other process is done."
        case .storeReadOnly: "Give this user the right to write the file and its folder."
        case .otherService, .otherUser:
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
    /// The same error with the file it is about, which only the caller knows.
    package func naming(_ file: String) -> SyncError {
        guard !message.contains(file) else { return self }
        var named = self
        named.message = "\(file): \(message)"
        return named
    }
}

// MARK: - DetectedFormat

/// What a payload that cannot be read as it was asked for seems to be, with the option that reads it.
public enum DetectedFormat: Sendable, Hashable {
    /// Records on lines of their own: ``SyncOptions/Form/ndjson``.
    case ndjson
    /// A JSON:API document: ``SyncOptions/Form/jsonAPI``.
    case jsonAPI
    /// The answer of a GraphQL service: ``SyncOptions/Form/graphQL``.
    case graphQL
    /// An object whose members are the records: ``SyncOptions/keyedBy``; whether their names fit the primary key, nil
    /// where there is no model that could say it.
    case keyed(namesFitKey: Bool?)
    /// Lists of several entities: the entity of each, by its key.
    case entities([String: String])
    /// Text with commas, semicolons or tabs between the columns. It is not read: convert it to JSON first.
    case csv
    /// A web page, such as one for logging in: not what was asked for.
    case html
    /// XML. It is not read.
    case xml
    /// YAML. It is not read.
    case yaml

    /// What it is, as a part of a sentence.
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

    /// What reads it, in Swift; nil if nothing here does.
    private var option: String? {
        switch self {
        case .ndjson: "options.form = .ndjson"
        case .jsonAPI: "options.form = .jsonAPI"
        case .graphQL: "options.form = .graphQL"
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
