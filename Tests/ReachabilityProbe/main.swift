import AfarReachability

for await path in NetworkMonitor.shared.paths { print(path) }
