/// What Alamofire 5 calls the monitor that posts notifications, which it has among a session's monitors by default.
public typealias AlamofireNotifications = RequestNotifications
