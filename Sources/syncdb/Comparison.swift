import Sync

/// What an import would do, found out without writing anything: `diff`, and `import --dry-run`.
struct Comparison {
    let payload: PayloadOptions
    let store: StoreOptions
    let output: OutputOptions
    /// Whether a line per row is printed, with its values.
    let withRows: Bool

    /// Prints it.
    ///
    /// - Throws: ``SyncError`` `deletionGuard` after that, if an import would be refused: what the guard refuses is the very
    ///   thing to look at.
    func show(_ payloads: [Payload]) async throws -> SyncResult {
        // Once: it may be a pipe.
        let given = try store.givenModel()
        return try await Interruption.cancelling {
            do {
                return try await show(payloads, payload.options, given)
            } catch let error as SyncError where error.code == .deletionGuard {
                var options = payload.options
                options.deletionGuard = nil
                _ = try await show(payloads, options, given)
                throw error
            }
        }
    }

    private func show(_ payloads: [Payload], _ options: SyncOptions, _ given: SyncModel?) async throws -> SyncResult {
        var options = options
        options.collectsValues = withRows && !output.quiet
        let comparison = ComparisonStore(store) { kept in
            guard let kept else {
                return try store.modelForNewDatabase(
                    given, inferring: payloads, as: payload, isQuiet: output.quiet)
            }
            return try store.modelForExistingDatabase(
                given ?? kept, extendedBy: payloads, as: payload, isQuiet: output.quiet)
        }
        return try await comparison.use(writing: payloads.count > 1) { [options] stack, chosen in
            let result = try await output.withProgress(options) {
                try await payload.plan(payloads, against: stack, options: $0)
            }
            chosen.announce()
            try output.show(result, of: stack.model, withRows: withRows)
            if !output.quiet { stack.model.remarkOnMissingTransformers() }
            if !output.quiet { store.suggestEvolving(stack.model, after: result, payloads, as: payload) }
            return result
        }
    }
}
