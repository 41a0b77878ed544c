-- wrk's users think between replies: milliseconds, exponential with the mean that is given.
local mean

function init(arguments)
  mean = tonumber(arguments[1])
  math.randomseed(tonumber(arguments[2]))
end

function delay()
  return math.floor(-mean * math.log(1 - math.random()) + 0.5)
end
