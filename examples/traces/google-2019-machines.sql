-- Google's cluster data of 2019: a row a machine, from its first ADD (1) to the REMOVE (2) after which it does not come back.
-- For BigQuery: save the result as CSV, for google-2019-machines.yaml.
select
  machine_id as name,
  max(capacity.cpus) as cpus,
  max(capacity.memory) as memory,
  1000 as pods,
  max(platform_id) as platform,
  min(case when type = 1 then time end) / 1000000.0 as created,
  case when max(case when type = 2 then time end) > max(case when type = 1 then time end)
    then max(case when type = 2 then time end) / 1000000.0 end as deleted
from machine_events
group by machine_id
having min(case when type = 1 then time end) is not null
order by name
