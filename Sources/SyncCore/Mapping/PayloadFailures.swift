extension StagedPayload {
    /// The payload, or its last piece where none before had a record that could be read.
    ///
    /// - Throws: ``SyncError`` `noRecords` if the payload has records and none of them has a readable key: it is not the
    ///   answer that was asked for, so nothing in it counts. Records that are refused for something else were read.
    ///
    /// - Parameter unfit: A key of an earlier piece that does not fit, if one does not.
    func requiringRecords(
        of model: SyncModel, _ options: SyncOptions, after unfit: SyncResult.Diagnostic? = nil
    ) throws -> StagedPayload {
        try plan.requireRecords(of: model, options, after: unfit)
        return self
    }
}

extension ChangePlan {
    fileprivate func requireRecords(of model: SyncModel, _ options: SyncOptions, after unfit: SyncResult.Diagnostic?)
        throws
    {
        let count = firstRecord + rootRecords
        guard count > 0, !options.admitsNoRecords else { return }
        try requireRecords(ofEach: roots, of: model)
        guard readableRootRecords == 0 else { return try requireKeys(options, firstKeyless) }
        let name = self.model.entities[entity].name
        let key = try model.primaryKeyParts(of: name).map(\.remote).joined(separator: "', '")
        let unfit = try unfit ?? unfitKey(of: model)
        let unknown = unfit == nil ? diagnostics.first { $0.kind == .unknownKind } : nil
        let found =
            if labels.first == "data" {
                ": no resource in 'data' that has an id is of this entity"
            } else if unknown != nil {
                ""
            } else if roots[0].isLoneObject || count == 1 {
                ": the record has no readable '\(key)'"
            } else {
                ": none of \(count) has a readable '\(key)'"
            }
        let reason = (unfit ?? unknown).map { ", as in \($0.path): \($0.message)" } ?? ""
        let owner = reason.isEmpty && parent == nil ? ownersInKey.first : nil
        let advice = owner.map { "; if all are of one \($0), name it as their parent" } ?? ""
        var error = SyncError(
            .noRecords, "no record can be read\(found)\(reason)\(advice)", entity: name,
            path: options.keyPath.isEmpty ? "$" : options.keyPath.joined(separator: "."))
        let fieldPath = fieldPath ?? options.keyPath
        error.keyPaths = listPaths.map { fieldPath + $0 }
        throw error
    }

    /// A strict sync takes no root record without a key.
    ///
    /// - Parameter first: The first without one; nil if there is none.
    /// - Throws: ``SyncError`` `primaryKeyMissing`.
    func requireKeys(_ options: SyncOptions, _ first: KeylessRecord?) throws {
        guard options.isStrict, let found = first else { return }
        let name = model.entities[found.entity].name
        throw SyncError(
            .primaryKeyMissing, "the record has no readable key, so it is not known which \(name) it is", entity: name,
            path: found.path)
    }

    /// The entities of the rows that a key of several parts is made of.
    private var ownersInKey: [String] {
        (model.entities[entity].compositeKey?.parts ?? []).compactMap { part in
            guard case .relationship(let index) = part else { return nil }
            return model.entities[model.entities[entity].relationships[index].destination].name
        }
    }

    /// Of several lists, each that has records must have one that can be read.
    func requireRecords(ofEach roots: [Root], of model: SyncModel) throws {
        guard roots.count > 1 else { return }
        for (index, root) in roots.enumerated() where root.records > 0 && root.readable == 0 {
            let name = self.model.entities[root.entity].name
            let key = try model.primaryKey(of: name)?.remote ?? "key"
            throw SyncError(
                .noRecords, "no record can be read: none of \(root.records) has a readable '\(key)'", entity: name,
                path: labels.indices.contains(index) ? labels[index] : nil)
        }
    }

    /// What says that the key of a record is of another type, if any does.
    func unfitKey(of model: SyncModel) throws -> SyncResult.Diagnostic? {
        let name = self.model.entities[entity].name
        let keys = try model.primaryKeyParts(of: name).map(\.remote)
        return diagnostics.first { diagnostic in
            diagnostic.kind == .valueDoesNotFit && diagnostic.entity == name
                && keys.contains { diagnostic.path.hasSuffix(".\($0)") }
        }
    }
}

extension PayloadMapper {
    /// The record just mapped is one object in no array: it says what it is, not what else there is. Where it has no key,
    /// the records may be in a list inside it.
    mutating func noteLoneObject(_ tape: JSONTape, _ bytes: Bytes) {
        plan.roots[0].isLoneObject = true
        if plan.readableRootRecords == 0 { plan.listPaths = tape.listPaths(in: bytes) }
    }
}
