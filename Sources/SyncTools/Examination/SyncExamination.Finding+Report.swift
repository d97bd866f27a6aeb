import SyncCore

extension SyncExamination.Finding {
    /// What a dry run reports, with what to change.
    init(_ diagnostic: SyncResult.Diagnostic) {
        let (kind, advice): (Kind, String) =
            switch diagnostic.kind {
            case .valueDoesNotFit:
                (.valueDoesNotFit, "change the attribute's type or name a transformer; the stored value stays as it is")
            case .recordWithoutKey, .keyCannotBeMade:
                (
                    .recordWithoutKey,
                    "name the JSON key of the primary key with \"remoteKey\", or mark another attribute"
                )
            case .deletionsSkipped:
                (
                    .recordWithoutKey,
                    "mend the record; --deletes-beside-unread and deletesBesideUnread delete what is left out all the same"
                )
            case .keyPartMissing:
                (
                    .recordWithoutKey,
                    "sync the row that its key is made of too, before or in the same payload, or name it as the parent"
                )
            case .shapeDoesNotFit: (.shapeDoesNotFit, "check \"many\" of the relationship; the links stay as they are")
            case .requiredValueMissing: (.requiredValueMissing, "make the attribute optional or give it a default")
            case .linksToMissingRows:
                (.damage, "import: it removes them; and have whatever deletes rows do so with foreign keys on")
            case .unknownKind:
                (.unknownKind, "give the kind an entity, in \"discriminator\" or as its \"type\", or skip it knowingly")
            case .contradictingName:
                (.contradictingName, "see which is right; the name under which the record stands is what is stored")
            case .contradictingRecord:
                (
                    .contradictingRecords,
                    "see which is right: the one that comes last is stored; --strict and isStrict refuse such a payload"
                )
            case .entityMismatch:
                (
                    .entityMismatch,
                    "sync the record as the entity its row is of; a row that shall be of another one has to be deleted first"
                )
            }
        self.init(
            kind, entity: diagnostic.entity, path: diagnostic.path, message: diagnostic.message, advice: advice)
    }

    /// A reference to a row that is not stored.
    init(_ reference: SyncResult.UnresolvedReference, path: String?) {
        self.init(
            .unresolvedReference, entity: reference.entity, path: path,
            message: "\(reference.entity) \(reference.key) names \(reference.target) as its "
                + "\(reference.relationship), which is not stored",
            advice: "sync the row it names too, before or after; the link waits for it")
    }
}
