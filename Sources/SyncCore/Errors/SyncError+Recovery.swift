extension SyncError {
    /// A suggestion for fixing the problem.
    public var recoverySuggestion: String? {
        if let detectedFormat { return detectedFormat.advice }
        if !keyPaths.isEmpty { return "Set 'keyPath' to the path of the list of records." }
        if code == .incompatibleTables, fixes.isEmpty {
            return "Change the tables, their values or the model as the error says."
        }
        return suggestion ?? code.suggestion
    }
}

extension SyncError.Code {
    /// The suggestion for errors with this code that have no more specific suggestion.
    fileprivate var suggestion: String? {
        switch self {
        case .malformedJSON, .invalidUTF8: "Fetch the payload again: it may be truncated."
        case .nestingTooDeep, .recordTooLarge: "Request smaller or less deeply nested payloads."
        case .recordExpected, .noRecords, .keyPathNotFound:
            "Check that the payload is the right one. If it is, set 'keyPath', 'format' or 'keyedBy' to locate "
                + "its records."
        case .errorDocument: "Fix the errors that the service reports, and repeat the request."
        case .typeMismatch: "Change the attribute's type, add a transformer, or set 'isStrict' to false."
        case .inconsistentRecords: "Send each record once, or set 'isStrict' to false."
        case .primaryKeyMissing:
            "Add the primary key to the record, or set the 'remoteKey' of the primary key in the model."
        case .duplicateKey: "Choose another key, or update the row with this key."
        case .entityMismatch: "Use the entity of the stored row."
        case .invalidModel, .unreadableModel: "Fix the model at the listed paths."
        case .unknownEntity, .abstractEntity, .keylessEntity, .unknownAttribute, .unknownRelationship,
            .ambiguousRelationship, .invalidPredicate, .invalidOption:
            "Fix the arguments of the call."
        case .missingTransformer: "Register the transformer with the model: 'model.registering(…)'."
        case .parentNotFound: "Sync or insert the parent first."
        case .rowNotFound: "Check the key. If the row is missing, insert it first."
        case .deletionDenied: "Delete or unlink the related rows first, or change the delete rule."
        case .deletionLimitExceeded:
            "Check that the payload is complete. If it is, raise the deletion limit for this sync."
        case .modelMismatch:
            "Open the store with 'migration: .allowingDataLoss' to accept the data loss, or with the stored model."
        case .nameCollision: "Rename the app's table, or the entity."
        case .incompatibleTables: "Run the SQL listed with each problem, or change the model."
        case .incompatibleConnection: "Change the configuration of the database as the message says."
        case .cannotOpenStore: "Check that the file is a Sync store and is not damaged."
        case .storeClosed: "Open another DataStack, or close this one later."
        case .databaseError: "See 'underlyingError' for the error of SQLite."
        case .databaseBusy: "Try again when the other connection has finished."
        case .databaseReadOnly: "Allow this user to write to the file and its folder."
        case .serviceMismatch, .userMismatch:
            "Use one database for each service and user, or first remove the sync state of the other one with 'DataStack.removeSyncState'."
        case .engineBusy: "Try again when the other engine run has finished."
        case .hostNotFound: "Check the host name in the base URL, and the network connection."
        case .connectionRefused: "Check that the server runs at the base URL's host and port."
        case .timedOut, .serviceUnavailable: "Try again later."
        case .notFound: "Check the base URL and the paths of the entities."
        case .serviceFailure: "Fix the request as the message says, or report it to the operator of the service."
        case .unauthorized: "Provide new credentials."
        case .serverRestored:
            "Call 'reset' with '.cursors' to take the rows of the service and keep pending changes, or with '.remoteState' to "
                + "send all local rows again."
        case .invalidConfiguration: "Fix the configuration at the given path."
        case .unreadableFile: "Check that the file exists and is readable."
        }
    }
}

// MARK: - DetectedFormat

/// The detected format of a payload that cannot be read with the given options, and the matching option.
package enum DetectedFormat: Sendable, Hashable {
    /// One record on each line: ``PayloadFormat/ndjson``.
    case ndjson
    /// A JSON:API document: ``PayloadFormat/jsonAPI``.
    case jsonAPI
    /// A GraphQL response: ``PayloadFormat/graphQL``.
    case graphQL
    /// An object whose members are the records: ``SyncOptions/keyedBy``. `namesFitKey` tells whether the object keys
    /// fit the primary key; nil if there is no model.
    case keyed(namesFitKey: Bool?)
    /// An object with lists of several entities. The associated value is the entity of each list, by the key of the
    /// list.
    case entities([String: String])
    /// Text with columns separated by commas, semicolons or tabs. Syncs do not support this format.
    case csv
    /// A web page, such as a login page, instead of the payload.
    case html
    /// XML. Syncs do not support this format.
    case xml
    /// YAML. Syncs do not support this format.
    case yaml

    /// The name of the format, as part of a sentence.
    package var name: String {
        switch self {
        case .ndjson: "NDJSON (one record per line)"
        case .jsonAPI: "a JSON:API document"
        case .graphQL: "a GraphQL response"
        case .keyed: "an object whose members are records"
        case .entities: "an object with lists of several entities"
        case .csv: "CSV, not JSON"
        case .html: "HTML, not JSON: a web page, possibly a login page"
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
            "inEntities: [" + entities.sorted { $0.key < $1.key }.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
                + "]"
        case .csv, .html, .xml, .yaml: nil
        }
    }

    var advice: String { "it looks like \(name)" + (option.map { "; use \($0)" } ?? "") }
}
