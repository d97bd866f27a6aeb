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
