import SyncCore
import SyncStore

// Several requests are sent at the same time if the service allows it. Their responses are handled one after the other,
// because each response is compared with the stored rows.
extension OutboxRun {
    /// Returns the batches to send at the same time: the next batch, and batches that do not depend on it.
    ///
    /// Requests of one entity do not depend on each other: a row that references a new row is prepared after the
    /// response to that row, and so is the deletion of a row that another deleted row of its entity references.
    /// Requests of other entities wait, because they may be deletions of rows that these rows reference.
    private func batchesSentTogether(
        of requests: ArraySlice<OutgoingRequest>, _ batchSize: Int
    ) -> [[OutgoingRequest]] {
        guard let first = requests.first?.operation, maxConcurrentRequests > 1 else {
            return [Array(requests.prefix(batchSize))]
        }
        let independent = requests.prefix {
            $0.operation.entity == first.entity && ($0.operation.kind == .delete) == (first.kind == .delete)
        }
        return Array(Array(independent).parts(of: batchSize).prefix(maxConcurrentRequests))
    }

    /// The largest number of batches that are sent at the same time, at most 100.
    var maxConcurrentRequests: Int {
        service.capabilities.pushesAtomically ? 1 : min(max(1, service.capabilities.maxConcurrentRequests), 100)
    }

    /// The largest number of changes in one request, at least 1.
    var maxBatchSize: Int { max(1, service.capabilities.maxBatchSize) }

    /// A batch whose outcomes were not stored, because its request or the handling of its response failed.
    struct FailedBatch {
        let index: Int
        /// The requests to send again.
        let requests: [OutgoingRequest]
        let error: any Error

        /// The seconds that the error requires to wait. An error that ends the run counts as an endless delay.
        fileprivate var delay: Double {
            switch error {
            case ServiceError.retryLater(let after?, _): after.seconds
            case let error as ServiceError: error.isTransient ? 0 : -1
            default: .infinity
            }
        }
    }

    /// The response to one batch. In an optimized build, Swift 6.3 returns wrong values from a child task whose result
    /// is a tuple with a `Result`.
    private struct BatchResponse: Sendable {
        let index: Int
        let outcomes: Result<[PushOutcome], any Error>
    }

    /// Removes the next batches from `rest`, sends them at the same time, and stores the outcomes of each as they
    /// arrive. Failed batches return to `rest`.
    ///
    /// - Parameter count: The number of changes that the service applied, which this method increases.
    /// - Returns: The failure to handle, whose requests are the first of `rest`: the one with the longest delay.
    func sendNext(
        of rest: inout ArraySlice<OutgoingRequest>, _ batchSize: Int, count: inout Int
    ) async -> FailedBatch? {
        let batches = batchesSentTogether(of: rest, batchSize)
        rest = rest.dropFirst(batches.reduce(0) { $0 + $1.count })
        var (applied, failed): (Int, [FailedBatch]) = (0, [])
        await withTaskGroup(of: BatchResponse.self) { group in
            for (index, batch) in batches.enumerated() {
                group.addTask { [self] in await response(to: batch, index) }
            }
            for await response in group {
                var requests = batches[response.index]
                do {
                    let outcomes = try await checked(response.outcomes.get(), of: requests)
                    // From here on, the requests have an outcome, or are in doubt.
                    let answered = requests
                    requests = []
                    applied += try await complete(answered, outcomes)
                    await run.backoff.succeeded()
                } catch {
                    failed.append(FailedBatch(index: response.index, requests: requests, error: error))
                }
            }
        }
        count += applied
        failed.sort { ($1.delay, $0.index) < ($0.delay, $1.index) }
        rest = (failed.flatMap(\.requests) + rest)[...]
        return failed.first
    }

    private func response(to batch: [OutgoingRequest], _ index: Int) async -> BatchResponse {
        do {
            try Task.checkCancellation()
            return BatchResponse(index: index, outcomes: .success(try await service.pushed(batch.map(operation))))
        } catch {
            return BatchResponse(index: index, outcomes: .failure(error))
        }
    }
}
