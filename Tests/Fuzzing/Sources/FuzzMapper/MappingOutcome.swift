import FuzzSupport
import SyncCore

/// What mapping a payload came to: a plan as text, or why there is none.
struct MappingOutcome {
    var text = ""
    var error: SyncError?
    /// What the plan reports.
    var reports = MappingReports()

    init(_ call: FuzzCall, withPlaces: Bool, _ body: (PayloadGraphBuilder) throws -> PayloadGraph) {
        self.init(call) { staging, outcome in
            let plan = try body(staging)
            outcome.text = plan.text(withPlaces: withPlaces)
            outcome.reports.add(plan)
        }
    }

    /// Maps the payload in pieces; only what the plans of all pieces report can be compared with that of the whole.
    init(piecesOf call: FuzzCall) {
        self.init(call) { staging, outcome in
            let cuts = PayloadCuts(call.payload)
            var options = call.options
            options.pieces.size = cuts.pieceSize
            var size = 0
            var pieces = try ChunkedGraphBuilder(staging, options: options) { size = $0 }
            for chunk in cuts.chunks {
                var rest = chunk[...]
                while let piece = try pieces.next(from: &rest) { outcome.reports.add(piece.plan) }
            }
            outcome.reports.add(try pieces.last().plan)
            require(size == call.payload.count, "\(size) of \(call.payload.count) bytes were mapped")
        }
    }

    private init(_ call: FuzzCall, _ body: (PayloadGraphBuilder, inout MappingOutcome) throws -> Void) {
        do {
            let staging = try PayloadGraphBuilder(
                inEntity: call.entity, of: FuzzModel.model, parent: nil, relationship: nil,
                operations: call.operations, options: call.options)
            try body(staging, &self)
        } catch let error as SyncError {
            self.error = error
            // What it seems to be is guessed from what has come by then.
            self.error?.likelyForm = nil
        } catch {
            fail("not a SyncError: \(error)")
        }
    }
}
