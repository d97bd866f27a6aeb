#if !(os(Linux) && canImport(Glibc))
    package import Foundation
    package import HTTPTypes

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A transport that sends requests with Foundation's `URLSession`.
    package struct URLSessionTransport: HTTPTransport {
        private let session: URLSession
        private let receiver: ResponseCollector

        /// Creates a transport whose session has no cache and no cookies.
        ///
        /// - Parameters:
        ///   - timeout: The longest time without received data.
        ///   - totalTimeout: The longest time for a request and its complete response; by default ten times `timeout`.
        ///   - maxResponseSize: The largest size of a response in bytes, after decompression.
        package init(
            timeout: Duration = .seconds(60), totalTimeout: Duration? = nil,
            maxResponseSize: Int = ResponseSizeLimit.standard
        ) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.urlCache = nil
            configuration.httpShouldSetCookies = false
            configuration.timeoutIntervalForRequest = timeout.seconds
            configuration.timeoutIntervalForResource = ResponseSizeLimit.seconds(of: totalTimeout, timeout: timeout)
            receiver = ResponseCollector(limit: maxResponseSize)
            session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        }

        /// Sends a request once.
        package func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            guard let url = URL(string: request.address) else {
                throw ServiceError.invalidResponse("the request has no valid URL")
            }
            var urlRequest = URLRequest(url: url)
            urlRequest.httpMethod = request.method.rawValue
            for field in request.headerFields {
                urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            urlRequest.httpBody = body
            do {
                let (data, response) = try await receiver.answer(to: session.dataTask(with: urlRequest))
                guard let answer = response as? HTTPURLResponse else {
                    throw ServiceError.invalidResponse("the response is not HTTP")
                }
                var fields = HTTPFields()
                for (key, value) in answer.allHeaderFields {
                    guard let key = key as? String, let name = HTTPField.Name(key), let value = value as? String else {
                        continue
                    }
                    fields[name] = value
                }
                return (HTTPResponse(status: .init(code: answer.statusCode), headerFields: fields), data)
            } catch let error as URLError where error.code == .cancelled {
                throw CancellationError()
            }
        }
    }

    /// A delegate that collects the responses of a session, and cancels requests whose response is too large.
    ///
    /// `@unchecked Sendable`: the state is accessed only while `lock` is held.
    private final class ResponseCollector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        private struct Pending {
            let continuation: CheckedContinuation<(Data, URLResponse?), any Error>
            var data = Data()
            var isTooLarge = false
        }

        private let limit: Int
        private let lock = NSLock()
        private var pending: [Int: Pending] = [:]

        init(limit: Int) { self.limit = limit }

        func answer(to task: URLSessionDataTask) async throws -> (Data, URLResponse?) {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    lock.withLock { pending[task.taskIdentifier] = Pending(continuation: continuation) }
                    task.resume()
                }
            } onCancel: {
                task.cancel()
            }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLarge = lock.withLock {
                guard var answer = pending[dataTask.taskIdentifier] else { return false }
                if data.count > limit - answer.data.count { answer.isTooLarge = true } else { answer.data += data }
                pending[dataTask.taskIdentifier] = answer
                return answer.isTooLarge
            }
            if isTooLarge { dataTask.cancel() }
        }

        /// Does not follow redirects, so that no other host gets the credentials.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) {
            // Foundation outside of Apple's systems does not complete a task whose redirect is refused.
            let answer = lock.withLock { pending.removeValue(forKey: task.taskIdentifier) }
            completionHandler(nil)
            task.cancel()
            answer?.continuation.resume(returning: (Data(), response))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let answer = lock.withLock({ pending.removeValue(forKey: task.taskIdentifier) }) else { return }
            if answer.isTooLarge {
                answer.continuation.resume(throwing: ResponseSizeLimit.exceeded(limit))
            } else if let error {
                answer.continuation.resume(throwing: error)
            } else {
                answer.continuation.resume(returning: (answer.data, task.response))
            }
        }
    }
#endif
